"""Model servers: a provider for each kind of server, routing and health, and what is known of each model.

Providers transport requests and answers. What goes into a request is decided elsewhere: nothing here handles
conversations or budgets.
"""
