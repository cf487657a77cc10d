"""Random mutations of valid inputs, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

MOST_CHANGES = 4
LONGEST_PIECE = 64
STRANGE = (b"\0", b"\xff\xff\xff\xff", b"\n", b"-", b"1e308", b"nan", b'"', b"\x80", b"9" * 20)


def mutated(random: random.Random, seeds: Sequence[bytes], tokens: Sequence[bytes] = ()) -> bytes:
    """Return one of the seeds with up to `MOST_CHANGES` changes."""
    data = bytearray(random.choice(seeds))
    for _ in range(random.randint(1, MOST_CHANGES)):
        at = random.randrange(len(data) + 1)
        n = random.randint(1, LONGEST_PIECE)
        match random.randrange(7):
            case 0 if at < len(data):
                data[at] ^= 1 << random.randrange(8)
            case 1 if at < len(data):
                data[at] = random.randrange(256)
            case 2:
                del data[at : at + n]
            case 3:
                data[at:at] = data[at : at + n]
            case 4:
                data[at:at] = random.choice([*STRANGE, *tokens])
            case 5:
                other = random.choice(seeds)
                start = random.randrange(len(other) + 1)
                data[at : at + n] = other[start : start + n]
            case 6 if at:
                del data[at:]
    return bytes(data)
