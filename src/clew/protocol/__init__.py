"""The shared words of clew: ids, messages, entries, events, ops and the Client. Imports nothing of ours."""
