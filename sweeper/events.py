"""The webhook edge without IO: bytes and headers in, one typed event out.

`verify` before `parse`, always. Only the fields used are parsed, leniently: GitHub's own examples fail GitHub's own
schema, and unknown fields and actions are normal. Field rules: GitHub's webhook documentation, "Webhook events and
payloads" and "Validating webhook deliveries".
"""
