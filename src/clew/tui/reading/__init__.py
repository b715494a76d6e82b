"""The transcript on the screen: drawing, walking, searching, selecting."""
