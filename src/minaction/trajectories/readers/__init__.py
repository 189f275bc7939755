"""Recorded data from files: `read_file` finds the reader for a path."""

from ._base import READERS as READERS
from ._base import Reader as Reader
from ._columns import TableOptions as TableOptions
from ._minari import local_minari_folder as local_minari_folder
from ._minari import looks_like_minari_id as looks_like_minari_id
from ._minari import read_minari_id as read_minari_id
from ._one_frame import read_frame as read_frame
from ._read import column_names as column_names
from ._read import known_suffixes as known_suffixes
from ._read import read_file as read_file
from ._read import takes_options as takes_options
