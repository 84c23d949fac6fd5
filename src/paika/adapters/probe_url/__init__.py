"""Looks whether a web address answers."""
