"""Pure text: what may reach a terminal, a log or another model; widths, secrets, names, patterns, figures."""
