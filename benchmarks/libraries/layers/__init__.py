"""The layers of networks, by the same names for each library that has them."""
