"""The machine as Linux tells of it."""
