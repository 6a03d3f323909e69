"""Native code: inner loops, compiled by LLVM, and what calls them."""
