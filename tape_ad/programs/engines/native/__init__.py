"""The native engine: a program lowered to loop nests, fused, scheduled and compiled by LLVM."""
