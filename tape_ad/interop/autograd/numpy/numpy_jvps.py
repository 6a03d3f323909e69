"""An empty module: the JVPs of NumPy's functions are this library's rules."""

__all__: list[str] = []
