"""EyeLink trackers, through the vendor's pylink."""
