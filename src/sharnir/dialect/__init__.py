"""The dialect of the kernels and its compiler: Python functions over arrays become machine code. Knows no mechanics."""
