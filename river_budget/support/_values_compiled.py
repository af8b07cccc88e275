"""The compiled code that stores values in columns and lists; see `kernels._compiled`.

A feature is in a column if at least `features[0, THRESHOLD]` vectors have a value of it other than
0, and else in a list: every bit of a kernel row follows from the stored vectors alone. A list of n
entries has a *segment* of the smallest power of two >= n entries. Free segments of equal size are
linked, the first entry of each holds the start of the next, and so are free columns.
"""

from __future__ import annotations

import math

import numpy as np

from river_budget._compile import compiled
from river_budget.kernels._compiled import (
    COLUMN,
    COUNT,
    ENTRIES,
    LENGTH,
    START,
    TILE,
    get_slot,
    get_value,
    self_statistic,
)

# The place of the threshold in row 0 of `features`, which has no list.
THRESHOLD = START

# Places in `heap`: the end of all columns and lists in tiles, the number of free entries before it,
# the number of tiles of a column, and the first free column and the first free segments of 1, 2, 4,
# ... entries, 0 for none.
END, N_FREE, N_BLOCKS, FREE_COLUMN, FIRST_SIZE = range(5)
N_HEAP = FIRST_SIZE + 33


@compiled(forceinline=True)
def _is_zero(value):
    """Return whether a value takes no place. The sign of -0.0 is kept."""
    return value == 0.0 and math.copysign(1.0, value) > 0.0


@compiled(forceinline=True)
def _exponent(length):
    """Return the exponent of the smallest power of two >= length."""
    exponent = 0
    while 1 << exponent < length:
        exponent += 1
    return exponent


@compiled(forceinline=True)
def _is_power_of_two(length):
    return length > 0 and length & (length - 1) == 0


@compiled(forceinline=True)
def _put_entry(e, slot, value, tiles):
    tiles[e // ENTRIES, 2 * (e % ENTRIES)] = slot
    tiles[e // ENTRIES, 2 * (e % ENTRIES) + 1] = value


@compiled(forceinline=True)
def _free_segment(start, size, first_size, tiles, heap):
    _put_entry(start, heap[first_size], 0.0, tiles)
    heap[first_size] = start
    heap[N_FREE] += size


@compiled()
def _allocate(length, tiles, heap):
    """Return the start of a segment for a list; 0 if there is no room."""
    exponent = _exponent(length)
    first_size, size = FIRST_SIZE + exponent, 1 << exponent
    start = heap[first_size]
    if start != 0:
        heap[first_size] = np.int64(get_slot(start, tiles))
        heap[N_FREE] -= size
        return start
    n_tiles = max(1, size // ENTRIES)
    if heap[END] + n_tiles > len(tiles):
        return 0
    start = heap[END] * ENTRIES
    heap[END] += n_tiles
    for rest in range(start + size, heap[END] * ENTRIES, size):
        _free_segment(rest, size, first_size, tiles, heap)
    return start


@compiled(forceinline=True)
def _free(start, length, tiles, heap):
    exponent = _exponent(length)
    _free_segment(start, 1 << exponent, FIRST_SIZE + exponent, tiles, heap)


@compiled()
def _allocate_column(tiles, heap):
    """Return the first tile of a column of zeros; 0 if there is no room."""
    column = heap[FREE_COLUMN]
    if column != 0:
        heap[FREE_COLUMN] = np.int64(tiles[column, 0])
        heap[N_FREE] -= heap[N_BLOCKS] * ENTRIES
        tiles[column, 0] = 0.0
    elif heap[END] + heap[N_BLOCKS] <= len(tiles):
        column = heap[END]
        heap[END] += heap[N_BLOCKS]
    return column


@compiled(forceinline=True)
def _copy_entries(start, length, new, tiles, new_tiles):
    for k in range(length):
        _put_entry(new + k, get_slot(start + k, tiles), get_value(start + k, tiles), new_tiles)


@compiled(forceinline=True)
def _find(r, slot, features, tiles):
    """Return the entry of a slot in the list of a feature; -1 if its value is 0."""
    start = np.int64(features[r, START])
    for e in range(start, start + features[r, LENGTH]):
        if np.int64(get_slot(e, tiles)) == slot:
            return np.int64(e)
    return np.int64(-1)


@compiled(forceinline=True)
def _append(r, slot, value, features, tiles, heap):
    """Append an entry to a list, and return whether there is room."""
    length, start = np.int64(features[r, LENGTH]), np.int64(features[r, START])
    if length == 0 or _is_power_of_two(length):
        new = _allocate(length + 1, tiles, heap)
        if new == 0:
            return False
        _copy_entries(start, length, new, tiles, tiles)
        if length > 0:
            _free(start, length, tiles, heap)
        start = new
        features[r, START] = start
    _put_entry(start + length, slot, value, tiles)
    return True


@compiled(forceinline=True)
def _delete(r, e, features, tiles, heap):
    """Delete an entry from a list. The last one takes its place."""
    length, start = np.int64(features[r, LENGTH]) - 1, np.int64(features[r, START])
    _copy_entries(start + length, 1, e, tiles, tiles)
    if length == 0:
        _free(start, 1, tiles, heap)
    elif _is_power_of_two(length):
        new = _allocate(length, tiles, heap)
        if new == 0:
            _free(start + length, length, tiles, heap)
        else:
            _copy_entries(start, length, new, tiles, tiles)
            _free(start, 2 * length, tiles, heap)
            features[r, START] = new


@compiled()
def _move_to_column(r, features, tiles, heap):
    """Move a feature from a list to a column, and return whether there is room."""
    length, start = np.int64(features[r, LENGTH]), np.int64(features[r, START])
    column = _allocate_column(tiles, heap)
    if column == 0:
        return False
    features[r, COLUMN] = column
    for e in range(start, start + length):
        slot = np.int64(get_slot(e, tiles))
        tiles[column + slot // TILE, slot % TILE] = get_value(e, tiles)
    if length > 0:
        _free(start, length, tiles, heap)
    return True


@compiled()
def _move_to_list(r, features, tiles, heap):
    """Move a feature from a column to a list, and return whether there is room."""
    length, column = np.int64(features[r, LENGTH]), np.int64(features[r, COLUMN])
    e = np.int64(0)
    if length > 0:
        e = _allocate(length, tiles, heap)
        if e == 0:
            return False
    features[r, START] = e
    for block in range(heap[N_BLOCKS]):
        for i in range(TILE):
            value = tiles[column + block, i]
            if not _is_zero(value):
                _put_entry(e, block * TILE + i, value, tiles)
                e += 1
                tiles[column + block, i] = 0.0
    features[r, COLUMN] = 0
    tiles[column, 0] = heap[FREE_COLUMN]
    heap[FREE_COLUMN] = column
    heap[N_FREE] += heap[N_BLOCKS] * ENTRIES
    return True


@compiled()
def store(workspace, rows, slot, start, features, tiles, heap):
    """Store an example in an empty slot, and return the number of features that are stored.

    If it is less than all, more room has to be allocated, and the call repeated from this `start`.
    The workspace ends in the values, none of the feature rows (m,) is 0, and `heap` is what is free
    in `tiles`; see `kernels._compiled.kernel_row`.
    """
    values = workspace[len(workspace) - len(rows) :]
    threshold = np.int64(features[0, THRESHOLD])
    for j in range(start, len(rows)):
        r = rows[j]
        if not _is_zero(values[j]):
            length = np.int64(features[r, LENGTH]) + 1
            if (
                features[r, COLUMN] == 0
                and length >= threshold
                and not _move_to_column(r, features, tiles, heap)
            ):
                return j
            if features[r, COLUMN] != 0:
                tiles[features[r, COLUMN] + slot // TILE, slot % TILE] = values[j]
            elif not _append(r, slot, values[j], features, tiles, heap):
                return j
            features[r, LENGTH] = length
        features[r, COUNT] += 1
    return len(rows)


@compiled()
def erase(rows, slot, features, tiles, heap):
    """Empty a slot, and return the number of its features that no other vector has; see `store`."""
    n_unused = 0
    for r in rows:
        features[r, COUNT] -= 1
        n_unused += features[r, COUNT] == 0
        if features[r, COLUMN] != 0:
            t = features[r, COLUMN] + slot // TILE
            if _is_zero(tiles[t, slot % TILE]):
                continue
            tiles[t, slot % TILE] = 0.0
        else:
            e = _find(r, slot, features, tiles)
            if e < 0:
                continue
            _delete(r, e, features, tiles, heap)
        features[r, LENGTH] -= 1
    return n_unused


@compiled()
def settle(rows, start, features, tiles, heap):
    """Move features with too few values from columns to lists; see `store`."""
    for j in range(start, len(rows)):
        r = rows[j]
        if (
            features[r, COLUMN] != 0
            and features[r, LENGTH] < features[0, THRESHOLD]
            and not _move_to_list(r, features, tiles, heap)
        ):
            return j
    return len(rows)


@compiled()
def exchange(workspace, rows, old_rows, slot, spec, statistics, features, tiles, heap):
    """Replace an example by one without new names, as `erase`, `store` and `settle` do.

    Returned are the number of features that no vector has any more, -1 if a name is new and nothing
    was changed, and how many features were stored and settled; if these are not all, more room is
    needed.
    """
    for r in rows:
        if r == 0:
            return -1, 0, 0
    n_unused = erase(old_rows, slot, features, tiles, heap)
    n_stored = store(workspace, rows, slot, 0, features, tiles, heap)
    n_settled = 0
    if n_stored == len(rows):
        n_settled = settle(old_rows, 0, features, tiles, heap)
    set_statistic(workspace, len(rows), slot, spec, statistics)
    return n_unused, n_stored, n_settled


@compiled(forceinline=True)
def _room_for(r, slot, value, features, tiles, heap):
    """Return how many tiles may be needed for a new value of a stored example."""
    length, threshold = np.int64(features[r, LENGTH]), np.int64(features[0, THRESHOLD])
    longer = 1 + 2 * length // ENTRIES
    if features[r, COLUMN] != 0:
        t = features[r, COLUMN] + slot // TILE
        is_lost = _is_zero(value) and not _is_zero(tiles[t, slot % TILE])
        return longer if is_lost and length <= threshold else 0
    if _is_zero(value):
        return longer if _is_power_of_two(length - 1) else 0
    if length + 1 >= threshold:
        return heap[N_BLOCKS]
    return longer if length == 0 or _is_power_of_two(length) else 0


@compiled()
def has_room(workspace, rows, slot, features, tiles, heap):
    """Return whether there is room to replace an example by one with the same features."""
    values = workspace[len(workspace) - len(rows) :]
    n_tiles = heap[END]
    for j in range(len(rows)):
        n_tiles += _room_for(rows[j], slot, values[j], features, tiles, heap)
    return n_tiles <= len(tiles)


@compiled()
def _overwrite_listed(r, slot, value, features, tiles, heap):
    e, length = _find(r, slot, features, tiles), np.int64(features[r, LENGTH])
    if e >= 0 and not _is_zero(value):
        _put_entry(e, slot, value, tiles)
    elif e >= 0:
        _delete(r, e, features, tiles, heap)
        features[r, LENGTH] = length - 1
    elif not _is_zero(value):
        if length + 1 >= features[0, THRESHOLD]:
            _move_to_column(r, features, tiles, heap)
            tiles[features[r, COLUMN] + slot // TILE, slot % TILE] = value
        else:
            _append(r, slot, value, features, tiles, heap)
        features[r, LENGTH] = length + 1


@compiled()
def overwrite_values(workspace, rows, slot, features, tiles, heap):
    """Replace an example by one with the same features, if `has_room`."""
    values = workspace[len(workspace) - len(rows) :]
    block, lane = slot // TILE, slot % TILE
    for j in range(len(rows)):
        r = rows[j]
        if features[r, COLUMN] == 0:
            _overwrite_listed(r, slot, values[j], features, tiles, heap)
            continue
        t = features[r, COLUMN] + block
        change = np.int64(_is_zero(tiles[t, lane])) - np.int64(_is_zero(values[j]))
        tiles[t, lane] = values[j]
        if change != 0:
            features[r, LENGTH] += change
            if features[r, LENGTH] < features[0, THRESHOLD]:
                _move_to_list(r, features, tiles, heap)


@compiled()
def overwrite(workspace, rows, slot, spec, features, tiles, heap, statistics):
    """Replace an example by one with the same features, and return whether there is room."""
    if not has_room(workspace, rows, slot, features, tiles, heap):
        return False
    overwrite_values(workspace, rows, slot, features, tiles, heap)
    set_statistic(workspace, len(rows), slot, spec, statistics)
    return True


@compiled(forceinline=True)
def set_statistic(workspace, n_values, slot, spec, statistics):
    values = workspace[len(workspace) - n_values :]
    statistics[slot // TILE, slot % TILE] = self_statistic(spec, values)


@compiled(forceinline=True)
def _value(r, slot, features, tiles):
    if features[r, COLUMN] != 0:
        return tiles[features[r, COLUMN] + slot // TILE, slot % TILE]
    e = _find(r, slot, features, tiles)
    return get_value(e, tiles) if e >= 0 else 0.0


@compiled()
def load(workspace, rows, slot, features, tiles):
    """Copy the values of a stored example to the end of a workspace; see `store`."""
    values = workspace[len(workspace) - len(rows) :]
    for j in range(len(rows)):
        values[j] = _value(rows[j], slot, features, tiles)


@compiled(forceinline=True)
def _rescale(r, before, after, features, tiles, heap):
    """Change the factor of the values of a feature, and return whether a value becomes 0."""
    underflows = False
    column, start = np.int64(features[r, COLUMN]), np.int64(features[r, START])
    if column != 0:
        for t in range(column, column + heap[N_BLOCKS]):
            for i in range(TILE):
                scaled = tiles[t, i] / before * after
                underflows |= _is_zero(scaled) != _is_zero(tiles[t, i])
                tiles[t, i] = scaled
    else:
        for e in range(start, start + features[r, LENGTH]):
            scaled = get_value(e, tiles) / before * after
            underflows |= _is_zero(scaled)
            _put_entry(e, get_slot(e, tiles), scaled, tiles)
    return underflows


@compiled()
def rescale(rows, before, after, features, tiles, heap):
    """Change the factors of some features, and return whether a value becomes 0."""
    underflows = False
    for i in range(len(rows)):
        if before[i] != after[i]:
            underflows |= _rescale(rows[i], before[i], after[i], features, tiles, heap)
    return underflows


@compiled()
def renew_statistics(rows, ends, workspace, spec, features, tiles, statistics):
    """Set the statistics of all stored examples, given their joined feature rows and their ends."""
    start = 0
    for slot in range(len(ends)):
        own = rows[start : ends[slot]]
        values = workspace[: len(own)]
        load(values, own, slot, features, tiles)
        set_statistic(values, len(own), slot, spec, statistics)
        start = ends[slot]


@compiled()
def relocate(features, tiles, heap, new_tiles, new_heap):
    """Copy all columns and lists to new tiles, which are large enough."""
    for r in range(1, len(features)):
        length, start = np.int64(features[r, LENGTH]), np.int64(features[r, START])
        if features[r, COLUMN] != 0:
            column = _allocate_column(new_tiles, new_heap)
            for block in range(min(heap[N_BLOCKS], new_heap[N_BLOCKS])):
                for i in range(TILE):
                    new_tiles[column + block, i] = tiles[features[r, COLUMN] + block, i]
            features[r, COLUMN] = column
        elif length > 0:
            new = _allocate(length, new_tiles, new_heap)
            _copy_entries(start, length, new, tiles, new_tiles)
            features[r, START] = new
