from .feed import (
    RunFeed as RunFeed,
    ZmqFeed as ZmqFeed,
)
from .window.application import (
    run_dashboard as run_dashboard,
)
