"""State of the dashboard, without Qt: one module per panel or part of one."""
