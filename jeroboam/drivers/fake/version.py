"""Name and version of the driver."""

Driver = "fake"
version = "1.0.0"
