"""Results: motions by name, files, tables, plots."""
