"""The demo: a small simulated lab, from enrolling people to seeing who looks."""
