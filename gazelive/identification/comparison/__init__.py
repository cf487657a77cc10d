"""Ways to compare a probe with the gallery that several methods share."""
