from .client import (
    Subscription as Subscription,
    subscribe as subscribe,
    subscribe_async as subscribe_async,
)
from .engine.start import (
    run_engine as run_engine,
)
from .replay import (
    Replayed as Replayed,
    replay_recording as replay_recording,
)
from .session import (
    MOST_STARTS as MOST_STARTS,
    SETTLE_S as SETTLE_S,
    START_S as START_S,
    LiveSession as LiveSession,
    SessionResult as SessionResult,
    run_owner as run_owner,
)
from .settings import (
    DashboardSettings as DashboardSettings,
    LiveSettings as LiveSettings,
    decode_settings as decode_settings,
    encode_settings as encode_settings,
)
from .summary import (
    Crossing as Crossing,
    RunSummary as RunSummary,
    shown_probability as shown_probability,
    summarise as summarise,
)
from .wire.addresses import (
    DEFAULT_ADDRESS as DEFAULT_ADDRESS,
    Addresses as Addresses,
    free_addresses as free_addresses,
)
from .wire.control import (
    REPLY_TIMEOUT_S as REPLY_TIMEOUT_S,
    Prepare as Prepare,
    request as request,
)
from .wire.device_control import (
    DeviceControl as DeviceControl,
)
from .wire.doors import (
    Door as Door,
    Way as Way,
)
from .wire.keys import (
    Context as Context,
    keys_folder as keys_folder,
    load_client_keys as load_client_keys,
    make_keys as make_keys,
    require_keys as require_keys,
)
from .wire.owner import (
    OwnerLines as OwnerLines,
)
from .wire.runs import (
    Run as Run,
    find_run as find_run,
    hold_run as hold_run,
    live_runs as live_runs,
    reserve_addresses as reserve_addresses,
    run_at as run_at,
)
from .wire.transport import (
    ChunkSender as ChunkSender,
    Posteriors as Posteriors,
)
