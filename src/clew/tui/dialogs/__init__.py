"""What waits for a person, one dialog a file: an event, one widget, one answer."""
