"""What the TOML says and names: is it sound, and is everything there and readable?"""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image, UnidentifiedImageError

from gazelive.config.reading import replay_file, resolved
from gazelive.errors import GazeliveError
from gazelive.experiment.doctor.finding import Finding, Situation
from gazelive.experiment.named_files import missing_files
from gazelive.recordings.image_files import images_in


def configuration(situation: Situation) -> Iterator[Finding]:
    """Tell what is wrong with the TOML, and which of its files are missing."""
    if situation.examined is None:
        return
    examined = situation.examined
    remedy = f"edit {examined.path}"
    wrong = [f"{key}: {reason}" for key, reason in examined.problems]
    yield from _failures("configuration", wrong, remedy)
    if not wrong:
        yield Finding("configuration", "ok", str(examined.path))
    missing = missing_files(examined.config, examined.path)
    yield from _failures("files", missing, f"put them there, or {remedy}")


def stimuli(situation: Situation) -> Iterator[Finding]:
    """Look whether the images can be read, and whether there are enough."""
    if situation.examined is None:
        return
    config = situation.config
    folder = resolved(config.stimuli.folder, situation.examined.path)
    paths = images_in(folder)
    if not paths:
        return  # `configuration` told it
    broken = []
    for path in paths:
        try:
            with Image.open(path) as image:
                image.verify()
        except (OSError, SyntaxError, UnidentifiedImageError):
            broken.append(path.name)
    if broken:
        yield Finding(
            "images",
            "fail",
            f"{len(broken)} of {len(paths)} cannot be read: {', '.join(broken[:5])}",
            f"take them out of {folder}",
        )
        return
    n_foils = -(-config.task.recognition_questions // 2)
    wanted = config.stimuli.n_images + n_foils
    if len(paths) >= wanted:
        yield Finding("images", "ok", f"{len(paths)} in {folder}")
    elif n_foils:
        yield Finding(
            "images",
            "warn",
            f"{len(paths)} in {folder}: fewer than the {wanted} for all trials and questions",
            "add images, or lower stimuli.n_images or task.recognition_questions",
        )
    else:
        yield Finding(
            "images", "ok", f"{len(paths)} in {folder}, so {len(paths)} trials and not {wanted}"
        )


def fonts(situation: Situation) -> Iterator[Finding]:
    """Look whether there is a font for what the participant reads."""
    if situation.examined is None:
        return
    from gazelive.experiment.lettering import undrawable

    task = situation.config.task
    texts = (task.instructions, task.break_text, task.farewell)
    boxes = "".join(dict.fromkeys("".join(map(undrawable, texts))))
    if boxes:
        yield Finding(
            "fonts",
            "fail",
            f"no font here has {boxes[:20]}",
            "install one for the language of [task], such as Noto Sans",
        )
    else:
        yield Finding("fonts", "ok", "all texts can be shown")


def model(situation: Situation) -> Iterator[Finding]:
    """Load the model, and look whether it was made for such samples."""
    if situation.examined is None or situation.config.identify.model is None:
        return
    path = resolved(situation.config.identify.model, situation.examined.path)
    if not path.exists():
        return  # `configuration` told it
    from gazelive.identification.model_file import load_model

    try:
        loaded = load_model(path)
        loaded.check_rate(situation.config.tracker.sampling_rate_hz)
    except GazeliveError as error:
        yield Finding("model", "fail", str(error), "train it again: gazelive train")
        return
    yield Finding("model", "ok", f"{len(loaded.identifier.viewer_ids)} viewers in {path}")


def recording(situation: Situation) -> Iterator[Finding]:
    """Look whether the file of a replay is a recording."""
    name = replay_file(situation.config.tracker.device)
    if situation.examined is None or not name:
        return
    path = resolved(name, situation.examined.path)
    if not path.exists():
        return  # `configuration` told it
    from gazelive.recordings.opening import kind_of

    try:
        yield Finding("replay", "ok", f"{path} ({kind_of(path)})")
    except GazeliveError as error:
        yield Finding("replay", "fail", str(error), "name a recording: `gazelive info` reads it")


def _failures(what: str, texts: list[str], remedy: str) -> Iterator[Finding]:
    """Yield a line for each text; what to do stands below the last."""
    for text in texts:
        yield Finding(what, "fail", text, remedy if text is texts[-1] else "")
