"""Traces as Slurm's accounting prints them."""
