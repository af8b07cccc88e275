"""The native code: Cython for objects, C for loops. It knows no algorithm and nothing of River."""
