"""What a command would change, destroy or reach."""
