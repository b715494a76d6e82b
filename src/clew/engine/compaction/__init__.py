"""Making room in the model's view: when, what leaves, what is carried, the receipt. A middleware is its entrance."""
