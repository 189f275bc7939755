"""How well a learned distance agrees with the truth."""

from .agreement import Agreement as Agreement
from .agreement import RangeAgreement as RangeAgreement
from .agreement import agreement as agreement
from .agreement import agreement_by_range as agreement_by_range
from .protocol import evaluate as evaluate
from .protocol import evaluate_by_range as evaluate_by_range
