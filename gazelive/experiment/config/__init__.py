"""Configuration of an experiment: one TOML file, read strictly."""
