"""Contract checks that anyone can run on a member of their own, in the manner of scikit-learn's `check_estimator`.

There is one function per family. Each takes a member (an object, a class or a name) and raises an `AssertionError`
whose message names the law that failed and the numbers it failed with; it returns nothing where all laws hold::

    import minaction.testing as testing

    def test_my_quasimetric_keeps_the_laws():
        testing.check_quasimetric(MyQuasimetric())

Only NumPy and JAX are needed. Our own members pass through the same functions.
"""

from ._encoders import check_encoder as check_encoder
from ._objectives import check_objective as check_objective
from ._quasimetrics import check_quasimetric as check_quasimetric
from ._readers import check_reader as check_reader
from ._tasks import check_task as check_task

__all__ = ["check_encoder", "check_objective", "check_quasimetric", "check_reader", "check_task"]
