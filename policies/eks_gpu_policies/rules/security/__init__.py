"""Rules on exposure."""
