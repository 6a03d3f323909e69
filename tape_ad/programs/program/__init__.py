"""The program: calls in single static assignment, and the plainest way to run one."""
