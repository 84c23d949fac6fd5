"""Traces as CSV with one neutral set of columns."""
