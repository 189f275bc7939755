"""What happens to somebody whose dependency is missing."""

import a_package_that_nobody_has  # type: ignore[import-not-found]  # noqa: F401
