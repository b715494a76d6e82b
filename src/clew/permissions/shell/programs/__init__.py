"""What is known of programs: rows by topic, and the small languages that some take."""
