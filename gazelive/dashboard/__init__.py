"""The Qt window that shows a run while it goes on: who is looking, how sure, how good the data."""
