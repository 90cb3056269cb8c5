"""Tests of context: requests made to fit, with a real store behind them."""
