"""The `gazelive` command: one thin file per sub-command, heavy imports inside the functions."""
