"""Who is looking: from scanpaths to a calibrated posterior over the enrolled viewers."""
