"""Looks at files and folders below allowed roots."""
