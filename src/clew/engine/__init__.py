"""The loop: steps, dispatch, recovery, one middleware file per concern."""
