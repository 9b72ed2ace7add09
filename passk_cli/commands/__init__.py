"""Commands: a folder for each, whose `__init__` declares its options and whose `view` answers.

The declaration is a frozen dataclass: its fields are the options, its docstring is the help.  It is
imported for the help, which must cost nothing; the question, a subclass with what it computes, is
named by its place and imported when it is asked.  No files, no rendering, no drawing, no typer.
"""

# Name → the section of the help it stands in; its module here has the declaration.
COMMANDS = {
    "estimate": "Measure",
    "compare": "Measure",
    "gate": "Measure",
    "watch": "Measure",
    "bootstrap": "Measure",
    "curve": "Understand",
    "tasks": "Understand",
    "cost": "Understand",
    "trend": "Understand",
    "order": "Understand",
    "diversity": "Understand",
    "temperature": "Understand",
    "extrapolate": "Understand",
    "plan": "Understand",
    "judge": "Understand",
    "describe": "Files",
    "convert": "Files",
    "record": "Files",
    "formats": "Files",
    "report": "Files",
}
