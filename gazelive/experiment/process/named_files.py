"""The files that a configuration names: which of them are missing."""

from __future__ import annotations

from pathlib import Path

from gazelive.experiment.config.reading import replay_file, resolved
from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.stimuli import images_in


def missing_files(config: ExperimentConfig, config_path: Path) -> list[str]:
    """Return a sentence for each file or folder that the TOML at `config_path` names in vain."""
    sentences = []
    for key, text in (
        ("script", config.script),
        ("tracker.device", replay_file(config.tracker.device)),
        ("identify.model", config.identify.model),
    ):
        if text is None or not text.isprintable():  # reported as a mistake
            continue
        if not resolved(text, config_path).exists():
            sentences.append(f"{key}: there is no {resolved(text, config_path)}")
    if not config.stimuli.folder.isprintable():
        return sentences
    folder = resolved(config.stimuli.folder, config_path)
    if not images_in(folder):
        what = "are no images in" if folder.is_dir() else "is no folder"
        sentences.append(f"stimuli.folder: there {what} {folder}: put your images there")
    return sentences
