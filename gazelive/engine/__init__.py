"""The live engine: chunks in, documents out; and the process that runs it."""
