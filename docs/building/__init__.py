"""What the site is built with, besides Sphinx."""
