"""The documentation site: `python -m docs [OUT]` builds it."""
