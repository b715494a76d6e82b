"""Agents in the background on the screen: the list in the footer, and the view of one of them."""
