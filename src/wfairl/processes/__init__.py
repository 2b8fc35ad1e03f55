"""Independent jobs in processes of this machine or of a cluster."""
