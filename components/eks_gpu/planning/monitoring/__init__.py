"""Whether GPUs are watched: what expressions read, what is exported, and which of them cannot tell the truth."""
