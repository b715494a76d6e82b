"""Agents below the host: how one is made, its runner, log, tools, permits and budget, and the tasks beside turns."""
