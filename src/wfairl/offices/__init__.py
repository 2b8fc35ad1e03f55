"""Offices: the published map, and random ones."""
