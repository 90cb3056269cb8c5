"""Tests of fitting: requests made to fit, with a real store behind them."""
