"""Suites of experiments, computed cell by cell into one directory, with tables, figures and a page."""
