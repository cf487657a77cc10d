"""Saccades while they happen: the sample-by-sample detector and its kernels."""
