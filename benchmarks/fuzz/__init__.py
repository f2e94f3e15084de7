"""The fuzzer: `python -m benchmarks fuzz`. Hostile arguments, damaged files, random mechanisms; every case follows from its seed."""
