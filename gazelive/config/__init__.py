"""The experiment's configuration: one TOML file, read strictly."""
