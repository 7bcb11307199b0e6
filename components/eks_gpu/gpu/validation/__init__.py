"""Proof that GPUs work, before something is run on them."""
