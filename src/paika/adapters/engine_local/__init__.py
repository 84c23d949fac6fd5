"""Runs on this host's cards: one detached supervisor process for each part of a run.

Nothing is imported here, so that a supervisor starts with the standard library alone.
"""
