"""The two web faces: a public one for webhooks, and one for this machine's operator."""
