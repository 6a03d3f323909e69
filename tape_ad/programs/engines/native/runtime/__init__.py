"""What is there at run time: compiled functions, the virtual machine, threads."""
