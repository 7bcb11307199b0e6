"""The tools the sandbox builds with Go, once, into the user's cache folder."""
