"""An expression graph as LLVM assembly: straight-line code, cut into stages; lookups in constant arrays."""
