"""Closed positions and consistent speeds: assembly, starts, mobility."""
