"""Builds nothing."""
