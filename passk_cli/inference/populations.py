"""The two questions an interval can answer; names alone, so that asking for help costs nothing.

"new-tasks": the tasks are a sample of those it is about.  "these-tasks": the tasks are all it is
about; only the attempts could have gone otherwise.
"""

NEW_TASKS, THESE_TASKS = POPULATIONS = ("new-tasks", "these-tasks")
