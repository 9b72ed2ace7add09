"""Find the layout of the rows of files, and the meaning of their columns."""
