"""Fits of parameters to recordings: what `costate.identify` is made of, and its command."""
