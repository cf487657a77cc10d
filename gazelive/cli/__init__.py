"""The `gazelive` command: one file per sub-command, heavy imports inside the functions."""
