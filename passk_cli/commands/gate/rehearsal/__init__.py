"""A gate rehearsed: what it does where nothing changed, and what it catches."""
