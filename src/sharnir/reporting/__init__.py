"""Measuring and reporting, for every package: timing, number formats, tables, pictures, pages, files, progress bar."""
