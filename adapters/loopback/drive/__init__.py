"""The drive API: plays the people and the CI around the product, and shows what happened."""
