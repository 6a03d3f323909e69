"""Other libraries' conventions on our handles, one package each."""
