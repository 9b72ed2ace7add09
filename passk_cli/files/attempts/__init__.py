"""Facts about single attempts in addition to their outcome: scores, answers, solutions, order,
costs."""
