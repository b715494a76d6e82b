"""Making room in the model's view: when, what leaves, what is carried, and the receipt. A middleware is its entrance."""
