"""Long sessions in real processes: memory, lost samples and latencies over their time."""
