"""Files a person points at with `@`: found in what they say, read safely, and shown whole or as a digest."""
