"""Arguments, fast paths, and the one place that wires everything together."""
