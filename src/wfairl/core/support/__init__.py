"""What every room needs: errors, files, documents, registries, progress."""
