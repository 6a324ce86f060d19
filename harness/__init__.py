"""The engine: configs, episodes, workers, storage and chat. It knows no method, simulator or paper."""

__version__ = "0.1.0"
