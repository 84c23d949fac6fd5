"""Conformance suites: what every adapter of a port must keep."""
