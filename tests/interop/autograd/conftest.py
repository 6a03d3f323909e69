"""The programs are loaded by the tests, once for each autograd."""

collect_ignore = ["programs"]
