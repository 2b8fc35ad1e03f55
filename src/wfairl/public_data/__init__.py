"""Public data that others measured on, as worlds and demonstrations; the data are not part of the package."""
