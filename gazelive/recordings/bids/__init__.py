"""Export to BIDS."""
