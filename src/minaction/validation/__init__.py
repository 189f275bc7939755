"""Whether a model can be trusted when no truth is known: held-out episodes and checks of the data."""

from .._health import Health as Health
from ._broken import what_broke as what_broke
from ._data_checks import check_data as check_data
from ._data_checks import refuse_ids as refuse_ids
from ._data_checks import refuse_or_warn as refuse_or_warn
from ._split import FEWEST_EPISODES as FEWEST_EPISODES
from ._split import HELD_OUT as HELD_OUT
from ._split import split as split
from ._split import split_all as split_all
from ._validate import validate as validate
from ._validate import validate_seeds as validate_seeds
