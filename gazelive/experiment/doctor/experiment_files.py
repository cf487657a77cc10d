"""Checks of the TOML and the files that it names: images, fonts, model, recording."""

from __future__ import annotations

from collections.abc import Iterator

from gazelive.errors import GazeliveError
from gazelive.experiment.config.reading import replay_file, resolved
from gazelive.experiment.doctor.finding import Finding, Situation
from gazelive.experiment.process.named_files import missing_files
from gazelive.stimuli import images_in, open_image


def configuration(situation: Situation) -> Iterator[Finding]:
    """Check the TOML, and whether its files exist."""
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
    """Check that the images are readable, and that there are enough."""
    if situation.examined is None:
        return
    config = situation.config
    folder = resolved(config.stimuli.folder, situation.examined.path)
    paths = images_in(folder)
    if not paths:
        return  # `configuration` reports it
    broken = []
    for path in paths:
        try:
            with open_image(path) as image:
                image.verify()
        except (OSError, SyntaxError, ValueError):
            broken.append(path.name)
    if broken:
        yield Finding(
            "images",
            "fail",
            f"{len(broken)} of {len(paths)} are unreadable: {', '.join(broken[:5])}",
            f"remove them from {folder}",
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
            "images", "ok", f"{len(paths)} in {folder}: {len(paths)} trials instead of {wanted}"
        )


def fonts(situation: Situation) -> Iterator[Finding]:
    """Check that there is a font for the texts of the experiment."""
    if situation.examined is None:
        return
    from gazelive.experiment.display.lettering import undrawable

    task = situation.config.task
    texts = (task.instructions, task.break_text, task.farewell)
    boxes = "".join(dict.fromkeys("".join(map(undrawable, texts))))
    if boxes:
        yield Finding(
            "fonts",
            "fail",
            f"no installed font has {boxes[:20]}",
            "install a font for the language of [task], such as Noto Sans",
        )
    else:
        yield Finding("fonts", "ok", "available for all texts")


def model(situation: Situation) -> Iterator[Finding]:
    """Check that the model loads and matches the sampling rate."""
    if situation.examined is None or situation.config.identify.model is None:
        return
    path = resolved(situation.config.identify.model, situation.examined.path)
    if not path.exists():
        return  # `configuration` reports it
    from gazelive.identification import load_model

    try:
        loaded = load_model(path)
        loaded.check_rate(situation.config.tracker.sampling_rate_hz)
    except GazeliveError as error:
        yield Finding("model", "fail", str(error), "train it again: gazelive train")
        return
    yield Finding("model", "ok", f"{len(loaded.identifier.viewer_ids)} viewers in {path}")


def recording(situation: Situation) -> Iterator[Finding]:
    """Check that the file of a replay is a recording."""
    name = replay_file(situation.config.tracker.device)
    if situation.examined is None or not name:
        return
    path = resolved(name, situation.examined.path)
    if not path.exists():
        return  # `configuration` reports it
    from gazelive.recordings import kind_of

    try:
        yield Finding("replay", "ok", f"{path} ({kind_of(path)})")
    except GazeliveError as error:
        yield Finding(
            "replay", "fail", str(error), "give a recording that `gazelive info` can read"
        )


def _failures(what: str, texts: list[str], remedy: str) -> Iterator[Finding]:
    """Yield a finding per text; the last one has the remedy."""
    for text in texts:
        yield Finding(what, "fail", text, remedy if text is texts[-1] else "")
