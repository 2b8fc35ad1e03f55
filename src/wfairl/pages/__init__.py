"""Everything that is drawn or printed for a person."""
