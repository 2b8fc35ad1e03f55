"""What can happen: states, controls and labels."""
