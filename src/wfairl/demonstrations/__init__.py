"""What was seen: demonstrations, who made them, and where they are kept."""
