"""Vector environments: many scenes stepped at once."""
