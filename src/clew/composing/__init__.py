"""What people type before it is sent: history, drafts, completion, pasted text, and what a first character means."""
