"""The only code that touches the operating system."""
