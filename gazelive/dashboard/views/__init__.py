"""The panels, one module each; each reads the state and paints what has changed."""
