package main

// SQLite takes its memory from the C library, whose allocator keeps a heap for each thread that it has seen, and all of what
// was freed in them.

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void few_heaps(void) { mallopt(M_ARENA_MAX, 2); }
static void trim(void) { malloc_trim(0); }
#else
static void few_heaps(void) {}
static void trim(void) {}
#endif
*/
import "C"

// fewHeaps has the C library keep its number of heaps small. It is called before SQLite has allocated anything.
func fewHeaps() { C.few_heaps() }

// trimHeaps gives back what is free in them.
func trimHeaps() { C.trim() }
