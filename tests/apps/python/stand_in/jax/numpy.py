from numpy import asarray  # noqa: F401
