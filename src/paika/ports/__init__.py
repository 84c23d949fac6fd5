"""What paika needs from outside, as small protocols."""
