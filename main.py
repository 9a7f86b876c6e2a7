"""The tutorial's main program: `python main.py` trains its 9×9 network by self-play, with its own numbers."""

import sys

from mini_alphago.cli import main

if __name__ == "__main__":
    main(["train", "--preset", "tutorial", *sys.argv[1:]])
