"""The full-screen front end: transcript, prompt, footer and dialogs over a protocol Client."""
