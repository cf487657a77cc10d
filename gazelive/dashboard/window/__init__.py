"""The dashboard's Qt window: docks, actions, preferences."""
