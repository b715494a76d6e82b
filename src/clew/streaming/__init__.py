"""What programs see: the events of a session as the lines of a stream."""
