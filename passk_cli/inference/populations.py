"""Names of the two populations of tasks for intervals.

"new-tasks": the tasks are a sample of a larger population of tasks. "these-tasks": the interval is
for exactly these tasks, and only the attempts are random. The module contains only names, so that
`--help` imports no other module.
"""

NEW_TASKS, THESE_TASKS = POPULATIONS = ("new-tasks", "these-tasks")
