"""The simulated eye and its tracker."""
