"""How well a learned distance agrees with the truth."""

from ._agreement import Agreement as Agreement
from ._agreement import RangeAgreement as RangeAgreement
from ._agreement import agreement as agreement
from ._agreement import agreement_by_range as agreement_by_range
from ._protocol import evaluate as evaluate
from ._protocol import evaluate_by_range as evaluate_by_range
from ._records import Evaluation as Evaluation
from ._records import judge as judge
