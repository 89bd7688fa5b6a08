"""Temporal: the embedded server, the client, the sweeps it keeps and whether anybody works on them."""
