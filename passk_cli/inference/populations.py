"""Names of the two populations that an interval can be about.

"new-tasks": the tasks are a sample of a larger population of tasks. "these-tasks": the interval is
about exactly these tasks, and only the attempts are random. The module contains only names, so that
--help imports nothing else.
"""

NEW_TASKS, THESE_TASKS = POPULATIONS = ("new-tasks", "these-tasks")
