"""What is there: how rows are laid out, what columns mean, and what contradicts that."""
