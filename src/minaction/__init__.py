"""minaction: learn how many actions apart any two states are, from recorded state sequences alone."""

__version__ = "0.2.0.dev0"

# Names are loaded when they are first used: `import minaction` and `minaction --help` stay quick, and JAX starts only
# when something learns. `__init__.pyi` is the one list of them, for people, editors and the loader alike.
try:
    import lazy_loader
except ModuleNotFoundError:  # NumPy and safetensors are all there is; `minaction.runtimes.numpy` needs no more
    __all__ = []
else:
    __getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
