"""What is done with whole recordings: analysis, tables, figures."""
