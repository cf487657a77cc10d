from .feed import (
    ZmqFeed as ZmqFeed,
)
from .window.application import (
    run_dashboard as run_dashboard,
)
