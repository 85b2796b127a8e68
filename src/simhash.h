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
#include "core/cpu.h"

#endif							/* SIMHASH_H */
