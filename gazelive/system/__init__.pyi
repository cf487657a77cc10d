from .cache import (
    mark_used as mark_used,
    prune as prune,
)
from .children import (
    OWN_GROUP as OWN_GROUP,
    python_module as python_module,
)
from .compile_notice import (
    on_compile as on_compile,
)
from .decoding import (
    NOT_TOML as NOT_TOML,
    UNDECODABLE as UNDECODABLE,
)
from .files import (
    LOCK_NAME as LOCK_NAME,
    WriterLock as WriterLock,
    make_private_folder as make_private_folder,
    name_problem as name_problem,
    private_mode as private_mode,
    reading_error as reading_error,
    replace_file as replace_file,
    replacing as replacing,
    scratch_folder as scratch_folder,
    storage_error as storage_error,
    write_bytes as write_bytes,
    write_private as write_private,
)
from .gzip_files import (
    GZIP_MAGIC as GZIP_MAGIC,
    BoundedGzip as BoundedGzip,
    is_gzip as is_gzip,
)
from .jit import (
    cache_directory as cache_directory,
    is_first_compile as is_first_compile,
    kernel as kernel,
    unchecked_kernel as unchecked_kernel,
)
from .log import (
    get_logger as get_logger,
    log_to_file as log_to_file,
    log_to_stderr as log_to_stderr,
)
from .process import (
    limit_to_one_thread as limit_to_one_thread,
    one_thread_environment as one_thread_environment,
    parent_exit as parent_exit,
    replace_unencodable as replace_unencodable,
)
from .screen import (
    WINDOW_SHARE as WINDOW_SHARE,
    has_screen as has_screen,
    virtual_display as virtual_display,
)
from .signals import (
    EndSignals as EndSignals,
    ignore_signals as ignore_signals,
    interrupt_once as interrupt_once,
    killed_in_order as killed_in_order,
    pass_on as pass_on,
)
