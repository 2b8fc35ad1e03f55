"""What people look at: figures, and pages that open from disk."""
