"""`python -m mini_alphago` is the command `mini-alphago`."""

from .cli import main

if __name__ == "__main__":
    main()
