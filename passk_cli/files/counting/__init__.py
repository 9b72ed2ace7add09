"""Count rows with one SQL statement, explain wrong rows, and apply the policies of the request."""
