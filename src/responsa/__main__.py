"""``python -m responsa``."""

from responsa.cli import main

if __name__ == "__main__":
    main()
