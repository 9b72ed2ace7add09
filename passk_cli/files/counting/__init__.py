"""Count attempts with one SQL statement, explain errors, and apply --missing and --duplicates."""
