"""Read further facts about attempts, such as scores, answers, solutions, costs and their order."""
