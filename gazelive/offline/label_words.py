"""What eye movements are called: by the codes of hand-labelled corpora, by coders and by tools."""

from __future__ import annotations

NOT_COMPARABLE = "undefined"
NOT_SEARCHED = "not searched"
NO_SACCADE = "no saccade"
SACCADES = frozenset({"saccade", "corrective", "microsaccade"})
"""Names that count as saccades; the simulator tells them apart."""

CODES = {
    "0": NOT_COMPARABLE,
    "1": "fixation",
    "2": "saccade",
    "3": "oscillation",
    "4": "pursuit",
    "5": "blink",
    "6": "other",
}
"""Andersson et al. (2017), Zemblys et al. (2018)."""
_WORDS = {
    "saccade": ("saccade", "sac", "sacc", "isac", "isacc", "esacc", "true"),
    "corrective": ("corrective", "corrective saccade"),
    "microsaccade": ("microsaccade", "micro saccade"),
    "fixation": ("fixation", "fix", "fixa", "efix"),
    "oscillation": (
        *("oscillation", "post saccadic oscillation", "pso", "glissade"),
        *("hpso", "lpso", "ihps", "ilps"),
    ),
    "pursuit": ("pursuit", "smooth pursuit", "sp", "purs"),
    "blink": ("blink", "bli", "blnk", "eblink"),
    "other": ("other", "noise"),
    "loss": ("loss", "lost"),
    NO_SACCADE: (NO_SACCADE, "false"),
    NOT_COMPARABLE: (NOT_COMPARABLE, "und", "unknown", "none", ""),
}
"""Also the words of REMoDNaV (FIXA, SACC, ISAC, HPSO …) and of EyeLink's files (EFIX …)."""
_NAME_OF = CODES | {word: name for name, words in _WORDS.items() for word in words}
KNOWN = frozenset(_WORDS)


def label_name(word: str | None) -> str:
    """Return the one name of what a coder or a tool has written; a word nobody knows stays."""
    text = " ".join((word or "").lower().replace("_", " ").replace("-", " ").split())
    text = text.removesuffix(".0")
    return _NAME_OF.get(text) or _NAME_OF.get(text.removesuffix("s"), text)
