"""Runs a command that says how ready a dataset is."""
