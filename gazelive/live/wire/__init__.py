"""ZeroMQ transport between the processes of a session."""
