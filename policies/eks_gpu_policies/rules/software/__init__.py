"""Rules on GPU software."""
