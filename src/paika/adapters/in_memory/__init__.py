"""Promise-keeping stand-ins for every port, shipped with the package."""
