"""Reports of agents, written before the rules were read, with the sessions that bear them out or do not."""
