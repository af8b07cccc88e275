from river_budget._core.store import Store

class Rehearsal:
    """Two held-out examples of each label, and when it came."""

    store: Store
