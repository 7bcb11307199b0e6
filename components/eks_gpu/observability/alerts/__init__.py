"""The alerts on GPUs, one file a subject, and the recording rules below them."""
