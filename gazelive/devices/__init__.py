"""Eye trackers and what stands in for them."""
