"""`gazelive doctor`: checks whether a computer is ready for a session."""
