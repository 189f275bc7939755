"""Recorded episodes of states, and the files they come from."""

from ._arrays import shape_in_words as shape_in_words
from ._circles import periods as periods
from ._circles import turned as turned
from ._dataset import Trajectories as Trajectories
from ._distinct import distinct_states as distinct_states
from ._distinct import met_again as met_again
from ._distinct import states_repeat as states_repeat
from ._episodes import Episode as Episode
from ._given import as_trajectories as as_trajectories
from ._pauses import at_rest as at_rest
from ._pauses import typical_change as typical_change
from ._readings import failed_readings as failed_readings
from ._readings import repaired as repaired
from .readers import READERS as READERS
from .readers import Reader as Reader
from .readers import TableOptions as TableOptions
from .readers import column_names as column_names
from .readers import read_file as read_file
from .readers import takes_options as takes_options
