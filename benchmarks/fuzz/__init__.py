"""The fuzzer: `python -m benchmarks fuzz`. Hostile arguments, damaged files, random mechanisms, each from a seed."""
