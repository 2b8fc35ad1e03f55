"""The studio: demonstrate a task in the browser, watch it being understood, ask why, and correct it."""
