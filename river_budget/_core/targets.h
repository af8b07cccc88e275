/* Includes the header BODY for vectors of W = 2 doubles and, on x86-64, of 4 and 8. */
BEGIN_LOOPS
#define W 2 /* SSE2, NEON, WebAssembly */
#include BODY
#undef W
END_LOOPS
#if defined(__x86_64__)
BEGIN_TARGET("avx2")
#define W 4
#include BODY
#undef W
END_TARGET
BEGIN_TARGET("avx512f,avx512dq,avx512vl")
#define W 8
#include BODY
#undef W
END_TARGET
#endif
#undef BODY
