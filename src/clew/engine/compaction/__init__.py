"""Making room in the model's view: when, what leaves, what is carried. Pure parts; a middleware is their entrance."""
