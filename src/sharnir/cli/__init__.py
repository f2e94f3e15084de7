"""The command `sharnir`."""
