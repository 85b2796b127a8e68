/*-------------------------------------------------------------------------
 *
 * simhash.h
 *		What all wings share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_H
#define SIMHASH_H

#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "core/bits.h"

/*
 * Where it can, the compiler makes two versions of a function and lets the
 * dynamic linker choose: one for processors with a population count
 * instruction, one for the others.  Elsewhere the instruction belongs to the
 * baseline (on ARM, say), or the compiler's own code does the counting.
 * Clang will not clone a function that has been declared before.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && \
	defined(__GNUC__) && !defined(__clang__)
#define SIMHASH_POPCOUNT_CLONES __attribute__((target_clones("popcnt", "default")))
#else
#define SIMHASH_POPCOUNT_CLONES
#endif

#endif							/* SIMHASH_H */
