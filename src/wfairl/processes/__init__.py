"""Independent jobs in other processes of this machine."""
