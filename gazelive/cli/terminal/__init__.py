"""What all commands share: options, help, messages and tables on the terminal."""
