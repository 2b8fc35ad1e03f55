"""Distributions over words: n-grams, Baum-Welch, their spectral start, and the learner that chooses among sizes."""
