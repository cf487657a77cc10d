"""What `gazelive record` says at the end: what was recorded, how it went, what to do next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gazelive.cli.console import output, warn
from gazelive.cli.wording import counted, quoted

if TYPE_CHECKING:
    from gazelive.engine.summary import RunSummary
    from gazelive.experiment.display import Participant
    from gazelive.experiment.launch import Launched
    from gazelive.recordings.session_folder import SessionManifest

DIED = "it was never closed (its process died, or the disk is full); what came is on disk"
STRANGER = 0.5
"""A probability of being unknown above which nobody enrolled is named, as in the reports."""


def tell(
    launched: Launched, folder: Path, who: Participant, model: Path | None, *, as_json: bool
) -> None:
    """Say what came of a session."""
    manifest, summary = launched.manifest, launched.summary
    if manifest is None:
        warn("The session was never begun; nothing was written.")
        return
    if as_json:
        facts = {
            "session": str(folder),
            "viewer": manifest.viewer,
            "mode": manifest.mode,
            "reason": manifest.stop_reason or DIED,
            **manifest.config.get("outcome", {}),
            "identified": None if summary is None else summary.as_json(),
        }
        output.print_json(json.dumps(facts))
        return
    for line in (*_course(manifest), *identified(summary), f"Wrote {folder}"):
        output.print(line, markup=False)
    host_file = manifest.config.get("host_file")
    if host_file and not any(folder.glob("*.edf")):
        warn(f"the EDF was not fetched: it is on the Host PC as {host_file}")
    following = (
        f"gazelive train {quoted(folder.parent)} -o lab.model"
        if who.mode == "enrol"
        else f"gazelive identify {quoted(model or 'lab.model')} {quoted(folder)}"
    )
    output.print(f"Next: gazelive session report {quoted(folder)}   ·   {following}", markup=False)


def _course(manifest: SessionManifest) -> Iterator[str]:
    """Yield how the session went: its end, its trials, frames and times."""
    outcome: dict[str, Any] = manifest.config.get("outcome", {})
    trials = [what for _, _, what in outcome.get("trials", [])]
    frames = outcome.get("frames", {})
    yield f"Ended: {(manifest.stop_reason or DIED).rstrip('.')}."
    if outcome:
        told = ", ".join(f"{trials.count(what)} {what}" for what in dict.fromkeys(trials))
        yield f"{counted(len(trials), 'trial')}: {told or 'none'}."
    if frames.get("n"):
        synced = "" if frames.get("synced") else " (paced by the clock: the screen gave no sync)"
        yield (
            f"Frames: {frames['n']}, {frames['dropped']} dropped; median {frames['median_ms']:.1f} "
            f"ms, longest {frames['worst_ms']:.1f} ms{synced}."
        )
    shown_ms, delay_ms = outcome.get("image_ms"), outcome.get("onset_delay_ms")
    if shown_ms and delay_ms:
        yield (
            f"Images were on the screen for {shown_ms['median']:.1f} ms "
            f"({shown_ms['min']:.1f} to {shown_ms['max']:.1f}), {delay_ms['median']:.1f} ms after "
            f"the gate (at most {delay_ms['max']:.1f})."
        )
    recognition = outcome.get("recognition", {})
    if recognition.get("of"):
        yield f"Recognition: {recognition['right']} of {recognition['of']} answers were right."


def identified(summary: RunSummary | None) -> Iterator[str]:
    """Yield who it was, where a model was asked."""
    if summary is None or summary.best is None or summary.p is None:
        return
    after = f"after {counted(summary.n_saccades, 'saccade')}"
    unknown = summary.unknown
    if unknown is not None and unknown > STRANGER:
        yield (
            f"Nobody enrolled, as it seems ({unknown:.1%} {after}); of those enrolled most "
            f"probably {summary.best}."
        )
        return
    stranger = "" if unknown is None else f"; a stranger: {unknown:.1%}"
    yield f"Most probably {summary.best}: {summary.p:.1%} {after}{stranger}."
