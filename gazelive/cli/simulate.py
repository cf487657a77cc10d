"""`gazelive simulate`: a corpus of simulated viewers."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.terminal.console import Json, Quiet, announce_first_compile, progress, say
from gazelive.wording import counted, duration, quoted


class Format(enum.StrEnum):
    """Formats of recordings."""

    SESSION = "session"
    ASC = "asc"


class EyesOption(enum.StrEnum):
    """Eyes to record."""

    LEFT = "L"
    RIGHT = "R"
    BOTH = "LR"


def simulate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; new or empty.")],
    viewers: Annotated[int, typer.Option(min=1, help="Number of simulated people.")] = 32,
    first: Annotated[int, typer.Option(min=1, help="Number of the first person.")] = 1,
    images: Annotated[int, typer.Option(min=1, help="Images per person and session.")] = 106,
    pool: Annotated[int, typer.Option(min=1, help="Size of the image pool.")] = 376,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Viewing time per image, in seconds.")
    ] = 8.0,
    rate: Annotated[float, typer.Option(min=250, max=2000, help="Sampling rate in Hz.")] = 1000.0,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions per person.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the population.")] = 0,
    format: Annotated[Format, typer.Option(help="Session folders or ASC files.")] = Format.SESSION,
    eyes: Annotated[EyesOption, typer.Option(help="Eyes to record.")] = EyesOption.RIGHT,
    stimuli: Annotated[
        Path | None,
        typer.Option(help="Folder of real images to use first.", show_default="stimuli/"),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a corpus of simulated viewers, with the true events beside the recordings.

    The same viewer and seed is the same person in every corpus and for the simulated tracker:
    --first 7 makes v007 and those after, newcomers to a corpus of six.
    """
    from gazelive.simulation import CorpusPlan, ImagePool, default_stimuli, write_corpus
    from gazelive.system import storage_error

    plan = CorpusPlan(
        n_viewers=viewers,
        first_viewer=first,
        n_images=images,
        n_pool=pool,
        n_sessions=sessions,
        seconds=seconds,
        sampling_rate_hz=rate,
        eyes=eyes.value,
        seed=seed,
        format=format.value,
        stimuli=stimuli or default_stimuli(),
    )
    announce_first_compile(quiet=quiet, elsewhere="eye_kernels")
    with progress("Simulating", quiet=quiet) as report:
        try:
            written = write_corpus(plan, out, n_processes=jobs, progress=report)
        except OSError as error:  # of a library that does not name the file
            raise storage_error(error, Path(error.filename or out)) from error
    duration_s = sum(recording.duration_s for recording in written)
    n_bytes = sum(recording.n_bytes for recording in written)
    n_generated = ImagePool(pool, plan.stimuli).n_generated
    facts = {
        "corpus": str(out / "corpus.csv"),
        "recordings": len(written),
        "viewers": viewers,
        "sessions": sessions,
        "trials": sum(recording.n_trials for recording in written),
        "duration_s": round(duration_s, 3),
        "bytes": n_bytes,
        "generated_images": n_generated,
    }
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    say(
        f"Wrote {counted(len(written), 'recording')} of {counted(viewers, 'viewer')}, "
        f"{duration(duration_s)}, {_size(n_bytes)}, to {out} "
        f"({n_generated} of {counted(pool, 'image')} generated).",
        quiet=quiet,
    )
    say(f"Next: gazelive info {quoted(written[0].path)}", quiet=quiet)


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
