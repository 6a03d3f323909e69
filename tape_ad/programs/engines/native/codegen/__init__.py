"""Code generation: the text of LLVM's instructions."""
