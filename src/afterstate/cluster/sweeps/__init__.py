"""Sweeps: many trainings with different options, of which the best go on."""
