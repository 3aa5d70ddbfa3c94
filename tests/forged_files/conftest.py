"""The program that a test runs apart is no test."""

collect_ignore = ["child.py"]
