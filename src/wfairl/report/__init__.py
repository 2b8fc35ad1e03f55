"""Figures, and pages that open from disk."""
