"""The page of a replay: one HTML file that needs nothing from outside."""
