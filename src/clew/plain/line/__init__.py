"""The line that is typed, and the rows around it."""
