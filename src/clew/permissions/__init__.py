"""Policy: rules, modes, paths and shell commands judged before anything runs. Permissions are proved, not guessed."""
