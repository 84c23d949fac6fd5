"""Tests of paika; they mirror src/paika."""
