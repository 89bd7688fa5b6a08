"""`python -m sweeper`."""

from sweeper.cli.main import run

if __name__ == "__main__":
    run()
