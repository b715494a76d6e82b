"""For all tests: nothing passes or fails by how fast this machine is."""

from hypothesis import HealthCheck, settings

# Both are asserts on elapsed time that hypothesis makes by itself.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")
