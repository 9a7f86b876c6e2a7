"""Training and matches on many machines, on a Ray cluster. Nothing of it is needed, or imported, on one machine."""
