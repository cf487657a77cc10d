"""What `train` and `model` say of a model, in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gazelive.cli.console import say
from gazelive.cli.wording import counted

if TYPE_CHECKING:
    from gazelive.identification.model_file import TrainedModel


def tell(model: TrainedModel, *, quiet: bool) -> None:
    """Say what is in a model."""
    n_saccades = sum(path.n_saccades for path in model.training.scanpaths)
    say(
        f"{model.identifier.method} for {counted(len(model.identifier.viewer_ids), 'viewer')}, "
        f"from {counted(len(model.training), 'scanpath')} with {counted(n_saccades, 'saccade')}.",
        quiet=quiet,
    )
    if model.fitted.accuracy is not None:
        say(f"Accuracy by cross-validation: {model.fitted.accuracy}.", quiet=quiet)
    say(f"Calibration: {model.fitted.calibration}.", quiet=quiet)


def summary(model: TrainedModel) -> dict[str, object]:
    """Return the facts about a model as JSON can hold them."""
    import msgspec

    identifier = model.identifier
    accuracy = model.fitted.accuracy
    return {
        "method": identifier.method,
        "kind": model.kind,
        "n_viewers": len(identifier.viewer_ids),
        "viewers": list(identifier.viewer_ids),
        "n_scanpaths": len(model.training),
        "n_saccades": sum(path.n_saccades for path in model.training.scanpaths),
        "rate_range_hz": model.rate_range_hz,
        "vigor_rate_deg": model.fitted.vigor_rate_deg,
        "calibration": model.fitted.calibration,
        "accuracy": None if accuracy is None else msgspec.to_builtins(accuracy),
        "detector": None if model.detector is None else msgspec.to_builtins(model.detector),
        "base_id": model.base_id,
        "provenance": msgspec.to_builtins(model.provenance),
    }
