"""A model for live sessions at 500 to 2000 Hz, quick to make: of made-up people."""

from __future__ import annotations

from pathlib import Path

from gazelive.identification import Provenance, fit_method, new_model, save_model

from .people import people, training_of


def save_live_model(path: Path) -> Path:
    """Fit gazelive's own method to five people, save it, and return its path."""
    training = training_of(people(5), "samples", 4)
    save_model(
        new_model(fit_method("gazelive", training), training, None, Provenance(source="")), path
    )
    return path
