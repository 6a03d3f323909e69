"""What errors say: whose line it was, what was called there, and what to write instead."""
