#!/bin/bash
#
# Random texts of code points of all planes, against the reference.
# SPDX-License-Identifier: PostgreSQL
#
# Of each text is compared what simhash_fold makes of it, its features by symbol
# in their order with their weights, and its fingerprint by a profile with a seed.
# There are a few thousand, or as many as can be compared in SIMHASH_SECONDS;
# SIMHASH_SEED repeats a run.
#

. "$(dirname "$0")/compare.sh"
kind=random
seed=${SIMHASH_SEED:-$RANDOM$RANDOM}
echo "SIMHASH_SEED=$seed"
same_unicode || exit 0

ours="SELECT label, 'cut', concat_ws('|', simhash_fold(body),
		(SELECT coalesce(string_agg(feature || '=' || weight, ';'
			ORDER BY nr), '')
		 FROM simhash_features(body, profile) WITH ORDINALITY
			AS f (feature, weight, hash, nr)),
		coalesce(simhash(body, profile)::text, ''))
	FROM t, (VALUES ('symbol-1-2-sqrt-seed-4711')) AS v (profile)"

theirs()
{
	"$PYTHON" reference.py cut
}

explain()
{
	"$PYTHON" reference.py compare "$work/ours" "$work/theirs" <"$1" || :
}

check_random reference.py 3000 50000

exit $failed
