"""Simulated viewers: who looks where and how long, and how the eye gets there."""
