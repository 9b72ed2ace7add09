"""Find the layout of the rows in files, and the roles of the columns."""
