"""Read facts about attempts, such as scores, answers, costs, labels and their order."""
