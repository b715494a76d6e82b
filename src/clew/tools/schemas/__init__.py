"""JSON Schema: of parameters, of answers, and the words for what does not fit."""
