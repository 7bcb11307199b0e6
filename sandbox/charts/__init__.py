"""Stand-ins for the Helm charts that are installed, and the mirror that serves them under their public addresses."""
