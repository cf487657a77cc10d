"""The tracker for scripts of other people: `gazelive.Tracker`."""
