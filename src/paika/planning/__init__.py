"""Verbs, pure: who starts now on which cards, and why everybody else waits."""
