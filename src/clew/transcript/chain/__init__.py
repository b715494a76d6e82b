"""The conversation in the lines: the chain, the view that is sent, the standing."""
