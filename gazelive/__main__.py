"""`python -m gazelive`."""

from gazelive.cli.app import main

if __name__ == "__main__":
    main()
