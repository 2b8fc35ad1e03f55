"""Distributions over words, by maximum likelihood from a spectral start."""
