"""Ways to run a program: interpreted, counted, compiled as straight-line code or as loops."""
