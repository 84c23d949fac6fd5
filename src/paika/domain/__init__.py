"""Nouns: frozen values, their arithmetic, their life-cycle tables."""
