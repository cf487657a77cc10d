"""Sample and fixation tables in CSV and Parquet."""
