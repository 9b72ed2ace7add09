"""The two questions that an interval can answer; only names, so that --help imports nothing else.

"new-tasks": the tasks are a sample of those that the interval is about. "these-tasks": the interval
is about exactly these tasks, and only the attempts are random.
"""

NEW_TASKS, THESE_TASKS = POPULATIONS = ("new-tasks", "these-tasks")
