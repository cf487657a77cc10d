"""The lines of an ASC file that are no samples, as EDF2ASC pads and separates them."""

from __future__ import annotations

from collections.abc import Sequence

from gazelive import __version__
from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import Eyes
from gazelive.gaze.stream import Message
from gazelive.recordings.asc_columns import DATA_TYPES, SampleColumns
from gazelive.recordings.eyelink_messages import text_in_file
from gazelive.recordings.recording import Block, Signal

_DATA_TYPE_OF = {coordinates: name for name, coordinates in DATA_TYPES.items()}
_EYE_WORDS: dict[Eyes, str] = {"L": "LEFT", "R": "RIGHT", "LR": "LEFT\tRIGHT"}
_KEYWORD_OF = {"saccade": "SACC", "fixation": "FIX", "blink": "BLINK"}
_CONTINUATION_STARTS = (" ", "\t", ">")


def milliseconds(time_us: int) -> str:
    """Return a time as ASC files give it, with decimals only where it has some."""
    whole, rest = divmod(time_us, 1000)
    return f"{whole}.{rest:03d}".rstrip("0") if rest else str(whole)


def header_text(header: Sequence[str], *, source: str, device: str) -> str:
    """Return the preamble: the recording's own lines, or else what says where it comes from."""
    lines = list(header) or [
        f"CONVERTED FROM {source} using gazelive {__version__}",
        "TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED",
        "VERSION: EYELINK II 1",
        "EYELINK II CL v5.15 (the layout of this file)",
    ]
    if not any(line.startswith("SOURCE:") for line in lines):
        lines.append(f"SOURCE: {device}")
    return "".join(f"** {_one_line(line)}\n" for line in lines) + "**\n\n"


def start_text(block: Block, columns: SampleColumns) -> str:
    """Return the lines from START to SAMPLES."""
    tab = "\t"
    eyes = _EYE_WORDS[columns.eyes]
    data_type = _DATA_TYPE_OF[columns.coordinates]
    tracking = f"RATE\t{block.stream.sampling_rate_hz:7.2f}\tTRACKING\tCR\tFILTER\t2"
    options = [
        word
        for word, present in {
            "VEL": columns.velocity,
            "RES": columns.resolution,
            "HTARGET": columns.target,
        }.items()
        if present
    ]
    described = [data_type, eyes, *options, tracking, *(["INPUT"] if columns.input_port else [])]
    return (
        f"START\t{milliseconds(block.start_us)} \t{eyes}\tSAMPLES\tEVENTS\n"
        "PRESCALER\t1\n"
        "VPRESCALER\t1\n"
        f"PUPIL\t{block.stream.pupil.upper()}\n"
        f"EVENTS\t{data_type}\t{eyes}\t{tracking}\n"
        f"SAMPLES\t{tab.join(described)}\n"
    )


def end_text(end_us: int, px_per_deg: tuple[float, float] | None) -> str:
    """Return the END line, with the px per degree where they are known."""
    line = f"END\t{milliseconds(end_us)} \tSAMPLES\tEVENTS"
    if px_per_deg is not None:
        line += "\tRES\t{:7.2f}\t{:7.2f}".format(*px_per_deg)
    return line + "\n"


def message_text(message: Message) -> str:
    """Return the MSG line; further lines of the text follow indented, as EyeLink's do."""
    first, *others = text_in_file(message.text).split("\n")
    text = f"MSG\t{milliseconds(message.tracker_time_us)} {_one_line(first)}\n"
    for other in others:
        if other.strip():
            indent = "" if other.startswith(_CONTINUATION_STARTS) else "\t"
            text += f"{indent}{_one_line(other)}\n"
    return text


def signal_text(signal: Signal) -> str:
    """Return the INPUT or BUTTON line."""
    time = milliseconds(signal.tracker_time_us)
    if signal.kind == "input":
        return f"INPUT\t{time}\t{signal.value}\n"
    return f"BUTTON\t{time}\t{signal.number}\t{signal.value}\n"


def event_start_text(event: TrackerEvent) -> str:
    """Return the SFIX, SSACC or SBLINK line."""
    return f"{_event_word('S', event)}{milliseconds(event.start_us)}\n"


def event_end_text(event: TrackerEvent, sample_interval_us: float) -> str:
    """Return the EFIX, ESACC or EBLINK line; its duration counts the last sample's interval."""
    duration_ms = int((event.end_us - event.start_us + sample_interval_us) // 1000)
    fields = [milliseconds(event.start_us), milliseconds(event.end_us), str(duration_ms)]
    if event.kind == "fixation":
        fields += [_decimal(event.mean_x, 1), _decimal(event.mean_y, 1)]
        fields.append(_decimal(event.mean_pupil, 0))
    elif event.kind == "saccade":
        places = (event.start_x, event.start_y, event.end_x, event.end_y)
        fields += [_decimal(place, 1) for place in places]
        fields += [_decimal(event.amplitude_deg, 2), _decimal(event.peak_velocity_deg_s, 0)]
    return _event_word("E", event) + "\t".join(fields) + "\n"


def _event_word(letter: str, event: TrackerEvent) -> str:
    return f"{letter + _KEYWORD_OF[event.kind]} {event.eye} ".ljust(9)


def _decimal(value: float | None, n_decimals: int) -> str:
    return "      ." if value is None else f"{value:7.{n_decimals}f}"


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ")
