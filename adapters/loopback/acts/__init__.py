"""What people and apps do to this GitHub, and the webhooks it causes. Rights are checked by the faces, not here."""
