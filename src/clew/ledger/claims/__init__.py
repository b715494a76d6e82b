"""What an agent's closing words say it did, held against the facts of its log."""
