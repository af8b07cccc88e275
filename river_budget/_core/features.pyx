# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The values of the vectors by features, in columns and lists; see `features.pxd`."""

from libc.math cimport signbit
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from river_budget._core.loops cimport aligned_free, aligned_zeros

cdef enum:
    # A feature is in a column if at least one in so many vectors has a value of it other than 0.
    SHARE = 8
    # More rows than this are given back when few are used.
    FEWEST_ROWS = 256


cdef void *checked(void *memory) except NULL nogil:
    if memory == NULL:
        with gil:
            raise MemoryError
    return memory


cdef int reallocate(void **memory, size_t n_bytes) except -1 nogil:
    memory[0] = checked(realloc(memory[0], n_bytes + 1))


cdef int widen(double **values, Py_ssize_t n, Py_ssize_t capacity) except -1 nogil:
    """Copy n values by slots to more memory, followed by zeros."""
    cdef double *new = <double *> checked(aligned_zeros(capacity))
    if values[0] != NULL:
        memcpy(new, values[0], n * sizeof(double))
        aligned_free(values[0])
    values[0] = new


cdef inline bint is_stored(double value) noexcept nogil:
    """Return whether a value takes a place. The sign of -0.0 is kept."""
    return value != 0.0 or signbit(value)


cdef int32_t *slots_of(Feature *feature) noexcept nogil:
    return <int32_t *> (feature.values + feature.room)


cdef int32_t find(Feature *feature, Py_ssize_t slot) noexcept nogil:
    """Return the place of a slot in a list; -1 if its value is 0."""
    cdef int32_t *slots = slots_of(feature)
    cdef int32_t e
    for e in range(feature.length):
        if slots[e] == slot:
            return e
    return -1


cdef double value_of(Feature *feature, Py_ssize_t slot) noexcept nogil:
    cdef int32_t e
    if feature.column != NULL:
        return feature.column[slot]
    e = find(feature, slot)
    return feature.values[e] if e >= 0 else 0.0


cdef int set_room(Feature *feature, int32_t room) except -1 nogil:
    """Give a list another room of at least its length."""
    cdef size_t n_bytes = room * (sizeof(double) + sizeof(int32_t))
    cdef double *values = <double *> checked(malloc(n_bytes + 1))
    if feature.length:
        memcpy(values, feature.values, feature.length * sizeof(double))
        memcpy(values + room, slots_of(feature), feature.length * sizeof(int32_t))
    free(feature.values)
    feature.values, feature.room = values, room


cdef int append(Feature *feature, Py_ssize_t slot, double value) except -1 nogil:
    if feature.length == feature.room:
        set_room(feature, feature.room + feature.room // 2 + 1)
    slots_of(feature)[feature.length] = <int32_t> slot
    feature.values[feature.length] = value
    feature.length += 1


cdef int delete(Feature *feature, int32_t e) except -1 nogil:
    """Delete an entry of a list. The last one takes its place."""
    cdef int32_t *slots = slots_of(feature)
    feature.length -= 1
    feature.values[e], slots[e] = feature.values[feature.length], slots[feature.length]
    if feature.length < feature.room // 4:
        set_room(feature, feature.room // 2)


cdef int to_column(Feature *feature, Py_ssize_t capacity) except -1 nogil:
    cdef int32_t *slots = slots_of(feature)
    cdef int32_t e
    cdef double *column = NULL
    widen(&column, 0, capacity)
    for e in range(feature.length):
        column[slots[e]] = feature.values[e]
    free(feature.values)
    feature.column, feature.values, feature.room = column, NULL, 0


cdef int to_list(Feature *feature, Py_ssize_t capacity) except -1 nogil:
    cdef Py_ssize_t slot
    cdef double *column = feature.column
    cdef Feature empty
    memset(&empty, 0, sizeof(Feature))
    set_room(&empty, feature.length)
    feature.values, feature.room, feature.length = empty.values, empty.room, 0
    for slot in range(capacity):
        if is_stored(column[slot]):
            append(feature, slot, column[slot])
    feature.column = NULL
    aligned_free(column)


cdef class Layout:

    def __dealloc__(self):
        free(self.active)
        free(self.rows)

    def __sizeof__(self):
        return object.__sizeof__(self) + self.m * sizeof(int32_t)


cdef Layout new_layout(list names):
    """Return a layout of names that are all read, whose feature rows are not known."""
    cdef Layout layout = Layout()
    layout.names = layout.columns = names
    layout.n_names = layout.m = len(names)
    reallocate(<void **> &layout.rows, layout.m * sizeof(int32_t))
    return layout


cdef class Features:

    def __cinit__(self):
        self.index, self.unused, self.free_row = {}, [], -1

    def __dealloc__(self):
        self.release()

    cdef void release(self) noexcept:
        cdef Py_ssize_t r
        for r in range(self.room):
            aligned_free(self.rows[r].column)
            free(self.rows[r].values)
        free(self.rows)

    cdef int clear(self) except -1:
        """Forget all vectors. The capacity stays."""
        self.release()
        self.rows, self.room, self.n_used, self.n = NULL, 0, 0, 0
        self.index, self.unused = {}, []
        self.free_row, self.is_sparse = -1, False
        self.version += 1

    cdef int extend(self, Py_ssize_t capacity) except -1:
        cdef Py_ssize_t r
        for r in range(self.room):
            if self.rows[r].column != NULL:
                widen(&self.rows[r].column, self.capacity, capacity)
        self.capacity = capacity

    cdef int set_n(self, Py_ssize_t n) except -1:
        cdef Py_ssize_t r, before = self.n
        self.n = n
        if (before + SHARE - 1) // SHARE != (n + SHARE - 1) // SHARE:
            for r in range(self.room):
                if self.rows[r].count:
                    self.settle(&self.rows[r])

    cdef int settle(self, Feature *feature) except -1 nogil:
        """Move a feature to a column if enough vectors have it, else to a list."""
        cdef bint is_common = feature.length and feature.length * SHARE >= self.n
        if is_common and feature.column == NULL:
            return to_column(feature, self.capacity)
        if not is_common and feature.column != NULL:
            return to_list(feature, self.capacity)

    cdef int set_value(self, int32_t row, Py_ssize_t slot, double value) except -1 nogil:
        cdef Feature *feature = &self.rows[row]
        cdef int32_t e
        if feature.column != NULL:
            feature.length += is_stored(value) - is_stored(feature.column[slot])
            feature.column[slot] = value
        else:
            e = find(feature, slot)
            if e >= 0 and is_stored(value):
                feature.values[e] = value
            elif e >= 0:
                delete(feature, e)
            elif is_stored(value):
                append(feature, slot, value)
        return self.settle(feature)

    cdef void copy(self, int32_t row, Py_ssize_t n, double *values) noexcept nogil:
        """Copy the values of a feature in n slots; those beyond the vectors are 0."""
        cdef Feature *feature = &self.rows[row]
        cdef int32_t e
        if feature.column != NULL:
            memcpy(values, feature.column, n * sizeof(double))
            return
        memset(values, 0, n * sizeof(double))
        for e in range(feature.length):
            values[slots_of(feature)[e]] = feature.values[e]

    cdef int32_t row_of(self, object name) except -1:
        """Return the row of a name, a new one if it has none."""
        cdef int32_t r
        row = self.index.get(name)
        if row is not None:
            return row
        if self.free_row < 0:
            self.add_rows()
        r = self.free_row
        self.index[name] = r
        self.free_row, self.rows[r].length = self.rows[r].length, 0
        self.n_used += 1
        self.version += 1
        self.unused.append((name, r))
        return r

    cdef int add_rows(self) except -1:
        cdef Py_ssize_t r, room = self.room + max(self.room // 2, <Py_ssize_t> 8)
        if room > 2**31 - 1:
            raise MemoryError
        reallocate(<void **> &self.rows, room * sizeof(Feature))
        memset(self.rows + self.room, 0, (room - self.room) * sizeof(Feature))
        for r in range(room - 1, self.room - 1, -1):
            self.rows[r].length = self.free_row
            self.free_row = <int32_t> r
        self.room = room

    cdef int replace(
        self, Layout layout, const double *values, Layout old, Py_ssize_t slot
    ) except -1:
        cdef Py_ssize_t j
        cdef Feature *feature
        self.mark += 1
        for j in range(layout.m):
            self.rows[layout.rows[j]].mark = self.mark
            self.rows[layout.rows[j]].count += 1
            self.set_value(layout.rows[j], slot, values[j])
        for j in range(old.m if old is not None else 0):
            feature = &self.rows[old.rows[j]]
            feature.count -= 1
            if feature.mark != self.mark:
                self.set_value(old.rows[j], slot, 0.0)
            if feature.count == 0:
                self.unused.append((old.columns[j], old.rows[j]))

    cdef int sweep(self) except -1:
        cdef int32_t r
        cdef Feature *feature
        while self.unused:
            name, r = self.unused[len(self.unused) - 1]
            feature = &self.rows[r]
            if feature.count == 0:
                del self.index[name]
                aligned_free(feature.column)
                free(feature.values)
                memset(feature, 0, sizeof(Feature))
                feature.length, self.free_row = self.free_row, r
                self.n_used -= 1
                self.version += 1
            self.unused.pop()
        self.is_sparse = self.room > FEWEST_ROWS and 4 * self.n_used < self.room

    cdef size_t n_bytes(self):
        """Return the size of the rows, columns and lists."""
        cdef size_t total = self.room * sizeof(Feature)
        cdef Py_ssize_t r
        for r in range(self.room):
            if self.rows[r].column != NULL:
                total += self.capacity * sizeof(double)
            elif self.rows[r].values != NULL:
                # With what `malloc` adds.
                total += self.rows[r].room * (sizeof(double) + sizeof(int32_t)) + 16
        return total
