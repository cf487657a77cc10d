from .figure_style import (
    COLOURS as COLOURS,
    FAINT as FAINT,
    INK as INK,
    as_svg as as_svg,
    drawing as drawing,
)
from .html_document import (
    html_page as html_page,
)
from .notes import (
    Note as Note,
)
from .page import (
    session_page as session_page,
)
from .session_facts import (
    SessionFacts as SessionFacts,
    gather as gather,
)
from .session_list import (
    ListedSession as ListedSession,
    list_sessions as list_sessions,
)
from .tables import (
    Column as Column,
    check_columns as check_columns,
    crossing_rows as crossing_rows,
    summary_rows as summary_rows,
    trial_columns as trial_columns,
)
