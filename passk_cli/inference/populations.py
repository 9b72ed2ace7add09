"""Names of the two populations of tasks that an interval can be for.

With "new-tasks", the tasks are a sample from a larger population of tasks. With "these-tasks", the
interval is for exactly these tasks, and only the attempts are random. The module contains only
names, so that `--help` imports no other module.
"""

NEW_TASKS, THESE_TASKS = POPULATIONS = ("new-tasks", "these-tasks")
