"""The program tables, by topic. Each row was read against the program's manual; an unknown flag asks."""
