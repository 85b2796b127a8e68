/*-------------------------------------------------------------------------
 *
 * near_fingerprint.c
 *		Fingerprints as simhash_guard() has them: of a bigint, or of a bit
 *		string of any width that an index can have.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "parser/parse_coerce.h"
#include "port/pg_bswap.h"

/* What kind of fingerprints a column has; fails if it has other values. */
NearType
simhash_near_type(Relation relation, AttrNumber column)
{
	Form_pg_attribute attribute = simhash_near_attribute(relation, column);
	int32		typmod = attribute->atttypmod;
	NearType	type = {INT8OID, SH_BITS};

	if (getBaseTypeAndTypmod(attribute->atttypid, &typmod) == BITOID &&
		typmod >= SH_LEAST_WIDTH && typmod <= SH_MOST_WIDTH)
	{
		type.oid = BITOID;
		type.width = typmod;
	}
	else if (!IsBinaryCoercible(attribute->atttypid, INT8OID))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is of type %s, neither bigint nor bit(n) with n from %d to %d",
						NameStr(attribute->attname),
						RelationGetRelationName(relation),
						format_type_with_typemod(attribute->atttypid,
												 attribute->atttypmod),
						SH_LEAST_WIDTH, SH_MOST_WIDTH),
				 errhint("Name a column of fingerprints, which the trigger can fill from a document by the options 'document=column' and 'fill=family'.")));
	return type;
}

/*
 * A value as a fingerprint.  What is in a column is as wide as the
 * column, but an expression or a trigger may give any bit string.
 */
NearFingerprint
simhash_near_fingerprint(const NearType *type, Datum value)
{
	NearFingerprint fingerprint;
	SimhashBits bits;

	memset(&fingerprint, 0, sizeof fingerprint);
	fingerprint.width = type->width;
	if (type->oid == INT8OID)
	{
		fingerprint.words[0] = (uint64) DatumGetInt64(value);
		return fingerprint;
	}
	bits = simhash_get_bits(value);
	if (bits.width != type->width)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("bit string length %d does not match type bit(%d)",
						bits.width, type->width)));
	memcpy(fingerprint.words, bits.bytes,
		   (bits.width + BITS_PER_BYTE - 1) / BITS_PER_BYTE);
	for (int i = 0; i < NEAR_WORDS(bits.width); i++)
		fingerprint.words[i] = pg_ntoh64(fingerprint.words[i]);
	return fingerprint;
}

/* The number of bits in which two fingerprints of a column differ. */
int
simhash_near_distance(const NearFingerprint *a, const NearFingerprint *b)
{
	int			distance = 0;

	for (int i = 0; i < NEAR_WORDS(a->width); i++)
		distance += sh_distance(a->words[i], b->words[i]);
	return distance;
}
