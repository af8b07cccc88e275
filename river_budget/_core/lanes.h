/* What all headers with hot loops share: names for each width of vectors, targets, and the width to take.

   A header of loops includes itself with W = 2, 4 and 8; see `loops.h`. */
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number of slots is a multiple of this, and so is the length of each array with a value for each slot. */
enum { LANES = 32 };

#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define NAME(x) JOINED(x##_, W)

#define PRAGMA(x) _Pragma(#x)
/* What encloses the body for the smallest vectors, and one for a larger target. GCC compiles the rest with -O2. */
#ifdef __clang__
#define BEGIN_LOOPS
#define END_LOOPS
#define BEGIN_TARGET(isa) PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define END_TARGET PRAGMA(clang attribute pop)
#else
#define BEGIN_LOOPS PRAGMA(GCC push_options) PRAGMA(GCC optimize("O3"))
#define END_LOOPS PRAGMA(GCC pop_options)
#define BEGIN_TARGET(isa) BEGIN_LOOPS PRAGMA(GCC target(isa, "prefer-vector-width=512"))
#define END_TARGET END_LOOPS
#endif

#if defined(__x86_64__)
#include <cpuid.h>

/* Bits of the register XCR0: the system saves the registers of AVX, and of AVX-512. */
enum { AVX_STATE = 0x06, AVX512_STATE = 0xe6 };

/* The widest vectors that processor and system support; not all compilers have __builtin_cpu_supports. */
static int supported_lanes(void) {
    unsigned a, b, c, d, saved, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 2;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if ((saved & AVX_STATE) != AVX_STATE || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 2;
    if ((saved & AVX512_STATE) == AVX512_STATE && (b & bit_AVX512F) && (b & bit_AVX512DQ)) return 8;
    return b & bit_AVX2 ? 4 : 2;
}
#else
static int supported_lanes(void) { return 2; }
#endif
