"""`clew` and `clew -p`: arguments, the session that is meant, and its front end."""
