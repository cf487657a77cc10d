from .claims import (
    claims_of as claims_of,
    summary_table as summary_table,
)
from .output import (
    REPORT_NAME as REPORT_NAME,
    write_study as write_study,
)
from .reading import (
    Selection as Selection,
)
from .splits import (
    Protocol as Protocol,
)
from .study import (
    Choices as Choices,
    run_study as run_study,
)
from .tables import (
    Study as Study,
)
