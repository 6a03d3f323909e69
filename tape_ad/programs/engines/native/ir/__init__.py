"""The intermediate representation: loop nests over memory references."""
