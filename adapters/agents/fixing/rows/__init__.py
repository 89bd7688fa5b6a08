"""The rows of the catalogue, one module for each family of tools."""
