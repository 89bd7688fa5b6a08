"""Workers: what a process of ours polls for, and how its errors reach the workflow."""
