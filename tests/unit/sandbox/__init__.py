"""Probes of the sandbox: written as attacks and uses, apart from the code that answers them."""
