"""The front end without a screen: `clew -p`."""
