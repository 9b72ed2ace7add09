"""Facts of single attempts besides passing: scores, answers, solutions, order, costs."""
