"""Which colour and symbol a viewer has: the same in every panel, for as long as they lead."""

from __future__ import annotations

from collections.abc import Iterable

N_SLOTS = 8


class ViewerSlots:
    """Gives each leading viewer a slot; who has not led for longest makes room."""

    def __init__(self) -> None:
        self._slot_of: dict[int, int] = {}
        """In the order of who led last, the longest ago first."""

    def clear(self) -> None:
        """Forget everybody."""
        self._slot_of.clear()

    def lead(self, positions: Iterable[int]) -> None:
        """Give slots to the viewers who lead now (the first `N_SLOTS` of them)."""
        leading = list(dict.fromkeys(positions))[:N_SLOTS]
        for position in reversed(leading):
            if position in self._slot_of:
                self._slot_of[position] = self._slot_of.pop(position)
        for position in leading:
            if position in self._slot_of:
                continue
            free = set(range(N_SLOTS)) - set(self._slot_of.values())
            if free:
                slot = min(free)
            else:
                loser = next(other for other in self._slot_of if other not in leading)
                slot = self._slot_of.pop(loser)
            self._slot_of[position] = slot

    def slot(self, position: int) -> int | None:
        """Return the viewer's slot, None for who never led (or long ago)."""
        return self._slot_of.get(position)
