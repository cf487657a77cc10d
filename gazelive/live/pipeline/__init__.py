"""The pipeline: chunks in, documents out."""
