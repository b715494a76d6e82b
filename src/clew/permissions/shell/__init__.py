"""Shell commands: a lexer that sees everything, a grammar that accepts little, and tables of proven programs."""
