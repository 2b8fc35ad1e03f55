"""The method: read this first. The core imports no neighbour."""
