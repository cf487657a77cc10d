"""User input to a window through the X server: keys, and a click on ×."""

from __future__ import annotations

import ctypes
import ctypes.util
import time
from typing import Any

POINTER_ROOT = 1


class XEvents:
    """A client of its own that sends what a keyboard and a window manager send."""

    def __init__(self, display: str | None = None) -> None:
        self._x = _library("X11")
        self._tst = _library("Xtst")
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        opened = self._x.XOpenDisplay(None if display is None else display.encode())
        if not opened:
            raise OSError(f"no X display {display}")
        self._display = ctypes.c_void_p(opened)
        self._x.XDefaultRootWindow.restype = ctypes.c_ulong
        self._x.XInternAtom.restype = ctypes.c_ulong
        self._x.XStringToKeysym.restype = ctypes.c_ulong
        self._root = ctypes.c_ulong(self._x.XDefaultRootWindow(self._display))

    def press(self, *keys: str) -> None:
        """Press and release keys, by their X11 names, in the window below the pointer."""
        for key in keys:
            symbol = ctypes.c_ulong(self._x.XStringToKeysym(key.encode()))
            code = self._x.XKeysymToKeycode(self._display, symbol)
            assert code, f"no key {key}"
            for down in (True, False):
                self._tst.XTestFakeKeyEvent(self._display, code, down, 0)
        self._x.XSync(self._display, False)

    def put_pointer(self, x_px: int, y_px: int) -> None:
        """Move the mouse; keys go to the window below it."""
        self._x.XSetInputFocus(self._display, ctypes.c_ulong(POINTER_ROOT), POINTER_ROOT, 0)
        self._tst.XTestFakeMotionEvent(self._display, 0, x_px, y_px, 0)
        self._x.XSync(self._display, False)

    def ask_to_close(self, window: int) -> None:
        """Send the message of a window manager after a click on ×."""
        event = _ClientMessage()
        event.type = 33  # ClientMessage
        event.window = window
        event.message_type = self._atom("WM_PROTOCOLS")
        event.format = 32
        event.data[0] = self._atom("WM_DELETE_WINDOW")
        whole = (ctypes.c_char * 192).from_buffer_copy(
            bytes(event).ljust(192, b"\0")
        )  # an XEvent is as large as its largest kind
        self._x.XSendEvent(self._display, ctypes.c_ulong(window), False, 0, whole)
        self._x.XSync(self._display, False)

    def wait_for_window(self, timeout_s: float = 120.0) -> None:
        """Return once a window of some size is on the screen."""
        deadline_s = time.monotonic() + timeout_s
        while not any(self._is_seen(window) for window in self._windows()):
            assert time.monotonic() < deadline_s, "no window came"
            time.sleep(0.05)

    def _windows(self) -> list[int]:
        root, parent = ctypes.c_ulong(), ctypes.c_ulong()
        children = ctypes.POINTER(ctypes.c_ulong)()
        n = ctypes.c_uint()
        self._x.XQueryTree(
            *(self._display, self._root, ctypes.byref(root), ctypes.byref(parent)),
            *(ctypes.byref(children), ctypes.byref(n)),
        )
        found = [children[k] for k in range(n.value)]
        if children:
            self._x.XFree(children)
        return found

    def _is_seen(self, window: int) -> bool:
        attributes = _WindowAttributes()
        self._x.XGetWindowAttributes(
            self._display, ctypes.c_ulong(window), ctypes.byref(attributes)
        )
        return attributes.map_state == 2 and attributes.width > 100

    def _atom(self, name: str) -> int:
        return int(self._x.XInternAtom(self._display, name.encode(), False))


class _ClientMessage(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
    ]


class _WindowAttributes(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in ("x", "y", "width", "height", "border", "depth")),
        ("visual", ctypes.c_void_p),
        ("root", ctypes.c_ulong),
        *((name, ctypes.c_int) for name in ("class_", "bit_gravity", "win_gravity")),
        ("backing_store", ctypes.c_int),
        ("backing_planes", ctypes.c_ulong),
        ("backing_pixel", ctypes.c_ulong),
        ("save_under", ctypes.c_int),
        ("colormap", ctypes.c_ulong),
        ("map_installed", ctypes.c_int),
        ("map_state", ctypes.c_int),
        ("rest", ctypes.c_char * 64),
    ]


def _library(name: str) -> Any:
    found = ctypes.util.find_library(name)
    if found is None:
        raise OSError(f"lib{name} is not installed")
    return ctypes.CDLL(found)
