"""GradBench's objectives by tape_ad, and what answers its messages; see docs/gradbench.md."""
