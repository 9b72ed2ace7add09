"""Read facts about attempts: scores, answers, costs, labels, and the order of the attempts."""
