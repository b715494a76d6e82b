"""One pure codec per dialect; no network, no clock, no keys."""
