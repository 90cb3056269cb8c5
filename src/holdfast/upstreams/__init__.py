"""Model servers: one protocol, and an implementation for each kind of server.

Providers carry requests there and answers back. They know no conversations and no budgets: what goes into a
request was decided before it comes here.
"""
