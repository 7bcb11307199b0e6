"""Rules on storage."""
