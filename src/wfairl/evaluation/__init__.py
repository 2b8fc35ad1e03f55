"""Agents run in the real environment, and how well they did."""
