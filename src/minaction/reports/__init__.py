"""Results for people: tables, figures, and one page to explore."""

import lazy_loader

# Loaded when first used, because only some commands draw: the terminal tables need neither JAX nor Matplotlib.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
