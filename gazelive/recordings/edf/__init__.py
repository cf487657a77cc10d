"""EyeLink's EDF files, read by the vendor's library in a separate process."""
