"""The shapes of the lines that programs read and write: stream-json, and control requests."""
