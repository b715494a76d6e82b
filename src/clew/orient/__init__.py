"""Words for facts: recap, labels, titles, board, side queries."""
