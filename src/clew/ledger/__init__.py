"""Facts: a pure fold over entries (`fold.py`), one module per family of facts."""
