"""Models from files and back: one module per format, a report of what each import did."""
