"""Git repositories: what their files say, and calls of the git program that obey none of them."""
