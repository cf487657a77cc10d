"""EyeLink's ASC files: reader and writer."""
