"""NVIDIA cards: through the driver's library, and as text where that can't be reached."""
