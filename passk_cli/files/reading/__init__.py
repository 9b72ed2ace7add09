"""A file as it is read: how rows are laid out, what columns mean, and what contradicts that."""
