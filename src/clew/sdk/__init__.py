"""clew from Python: one question, or a conversation, in this process."""
