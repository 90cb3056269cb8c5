"""What is known of a person: fields they fill in or accept, and how they are told to a model."""
