from .lab import (
    N_IMAGES as N_IMAGES,
    STRANGER as STRANGER,
    VIEWER as VIEWER,
    Demo as Demo,
    check_method as check_method,
    images_of_demo as images_of_demo,
    model_of_people as model_of_people,
    person as person,
    prepare_folder as prepare_folder,
)
from .population import (
    N_VIEWERS as N_VIEWERS,
)
from .session import (
    LiveSession as LiveSession,
    some_screen as some_screen,
    why_no_dashboard as why_no_dashboard,
    why_no_window as why_no_window,
)
