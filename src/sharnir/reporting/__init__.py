"""Measuring and reporting, for every package: timing loop, number formats, tables, progress bar."""
