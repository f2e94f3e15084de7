"""Ways to run a program: interpreted, counted, compiled by LLVM as straight-line code, compiled by Numba as loops."""
