"""What ships with the package: learned from public data, with its provenance."""
