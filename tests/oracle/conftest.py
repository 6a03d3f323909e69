"""What other packages do with autograd is run in processes of its own."""

collect_ignore = ["packages"]
