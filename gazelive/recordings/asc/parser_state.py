"""Interface between the ASC kernels and Python: array indices, kinds of lines, faults.

A call of `slab_kernels.parse_lines` passes lines that change how others are read (START, SAMPLES,
EVENTS, END, PRESCALER) on the assumption that the next block has the same columns. At each of them
it stores a snapshot of its state, so Python, which interprets those lines, can take the results
piece by piece and discard those that rest on a wrong assumption.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

# why parse_lines returned
DONE = 0
FULL = 1
COLUMNS_UNKNOWN = 2  # a sample follows, and only Python can determine its columns

# places in `state`: what one call counts
POSITION = 0
LINE = 1  # the first line of the call is 1
N_ROWS = 2
N_INDEXED = 3
N_EVENTS = 4
N_FAULTS = 5
N_SNAPSHOTS = 6
# set by Python for the block
IN_BLOCK = 7
COLUMNS = 8
TIMES_REPEAT = 9  # a repeated time is half a millisecond later (2000 Hz)
# left behind by earlier lines
MESSAGE_OPEN = 10  # the line before was a message, so an indented line continues it
LAST_TIME_US = 11
LAST_WRITTEN_TIME_US = 12
PARTS_SEEN = 13  # the optional parts that the block's last sample had
# what happened since the call began or the last snapshot was taken
OUT_OF_ORDER = 14  # some time was not later than the one before
OPEN_EVENTS = 15  # by kind and eye: the line of an open event, 0 if it has ended, or UNTOUCHED
FIRST_BEGUN = 21  # by kind and eye: the line of an event that began while UNTOUCHED, else 0
STATE_SIZE = 27
N_EVENT_SLOTS = FIRST_BEGUN - OPEN_EVENTS

LEFT_BEHIND = slice(MESSAGE_OPEN, OUT_OF_ORDER)
CARRIED = slice(IN_BLOCK, OUT_OF_ORDER)
"""All that decides how a line is read."""
UNTOUCHED = -1
NO_TIME_US = -1

# what is known of the columns
NO_COLUMNS = 0
KNOWN_COLUMNS = 1
UNKNOWN_COLUMNS = 2

# snapshots, shape (n, 2, STATE_SIZE): before and after the kernel has assumed what a line means
BEFORE = 0
AFTER = 1

HAS_FLAGS = 1
HAS_TARGET = 2

# places in `layout`, which Python fills for each block; what starts and stops are words of a row
N_FLAGS = 0
EYE_FLAG_SHIFT = 1
ABSENT_START = 2
ABSENT_STOP = 3
TARGET_START = 4
TARGET_STOP = 5
DESTINATIONS = 6  # from here on: the word that each number before the flags goes to

# columns of the index, and the kinds of lines in it; START to PRESCALER change the reading
INDEX_START = 0
INDEX_STOP = 1
INDEX_LINE = 2
INDEX_KIND = 3
INDEX_WIDTH = 4
UNKNOWN = 0
IGNORED = 1
MESSAGE = 2
CONTINUATION = 3
HEADER = 4
START = 5
SAMPLES = 6
EVENTS = 7
END = 8
PRESCALER = 9
PUPIL = 10
VELOCITY_PRESCALER = 11
INPUT = 12
BUTTON = 13

# the kinds of lines that are events, and the columns of their heads
START_SACCADE = 14
START_FIXATION = 15
START_BLINK = 16
END_SACCADE = 17
END_FIXATION = 18
END_BLINK = 19
EVENT_KIND = 0
EVENT_EYE = 1
EVENT_START_US = 2
EVENT_END_US = 3
EVENT_WIDTH = 4
SACCADE_NUMBERS = (0, 6)  # start x y, end x y, amplitude, peak velocity
FIXATION_NUMBERS = (6, 9)  # x y, pupil
BLINK_NUMBERS = (9, 9)
N_EVENT_NUMBERS = 9

# what is wrong with a line, and the columns of the faults
FAULT_LINE = 0
FAULT_WHAT = 1
FAULT_FOUND = 2  # the line on which it was found
FAULT_WIDTH = 3
NO_FAULT = 0
OUTSIDE_BLOCK = 1
WRONG_COLUMNS = 2
TIME_ORDER = 3
UNKNOWN_LINE = 4
MISPLACED_LINE = 5
UNREADABLE_EVENT = 6
UNENDED_EVENT = 7
