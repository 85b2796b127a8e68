/*-------------------------------------------------------------------------
 *
 * hamming_validate.c
 *		Whether an operator class is one that a hamming index can serve.
 *
 * There are two kinds.  Both have a comparison of what is stored for their
 * support function 1, by which the btree code within compares keys.  Of a class
 * for fingerprints a scan goes by the numbers of the strategies alone, so
 * anything but the operators of this extension would be answered wrongly, or
 * worse.
 *
 * A class for columns that divide the rows into groups has one operator, =, and
 * a hash for its support function 2.  It may be anybody's, but values that are
 * equal must have the same hash, or searches would miss rows.  PostgreSQL's own
 * hash indexes ask the same of their classes.  So where the operator is that of
 * a hash class, the function has to be that of this hash class too.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

#include "access/amvalidate.h"
#include "access/hash.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/*
 * Complain of a class, and of what of it is named in the message, if it is.
 * False, as what is wrong is not right.
 */
static bool
complain(Form_pg_opclass class, const char *message, const char *of)
{
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg(message, NameStr(class->opcname), of)));
	return false;
}

/*
 * Is an operator the one that a scan answers by that strategy?  A scan goes by
 * the number of the strategy alone, so no other will do.  By = a fingerprint
 * may be compared to any integer.
 */
static bool
is_our_operator(Form_pg_amop form)
{
	const SimhashOperator *operator =
	simhash_operator(get_opcode(form->amopopr));
	bool		ordering;

	if (form->amopstrategy == SIMHASH_EQUAL_STRATEGY)
		return form->amoppurpose == AMOP_SEARCH &&
			(get_opcode(form->amopopr) == F_INT8EQ ||
			 get_opcode(form->amopopr) == F_INT84EQ ||
			 get_opcode(form->amopopr) == F_INT82EQ);
	if (operator == NULL || operator->strategy != form->amopstrategy)
		return false;
	ordering = operator->query == SIMHASH_ORDER;
	return form->amoppurpose == (ordering ? AMOP_ORDER : AMOP_SEARCH) &&
		(operator->searched == SIMHASH_FINGERPRINTS) ==
		(form->amoplefttype == INT8OID) &&
		(operator->searched == SIMHASH_BITS) ==
		(form->amoplefttype == BITOID);
}

/* Report an operator of a class for fingerprints, if a scan cannot answer it. */
static bool
validate_search(Form_pg_opclass class, Form_pg_amop form)
{
	bool		ordering = form->amopstrategy == SIMHASH_DISTANCE_STRATEGY;

	if (!is_our_operator(form))
		return complain(class,
						"operator class \"%s\" of access method hamming has an operator that the access method does not know: %s",
						get_opname(form->amopopr));
	return check_amop_signature(form->amopopr, ordering ? INT4OID : BOOLOID,
								form->amoplefttype, form->amoprighttype) ||
		complain(class,
				 "operator class \"%s\" of access method hamming has an operator with a wrong signature: %s",
				 get_opname(form->amopopr));
}

/*
 * Can a function be the hash of a type?  Some of PostgreSQL's own hash classes
 * take the function of another type, which is stored in the same way.
 */
static bool
is_hash(Form_pg_amproc form)
{
	static const struct
	{
		Oid			function;
		Oid			type;
	}			borrowed[] = {
		{F_HASHINT4EXTENDED, DATEOID},
		{F_TIMESTAMP_HASH_EXTENDED, TIMESTAMPTZOID},
		{F_HASHCHAREXTENDED, BOOLOID},
		{F_HASHVARLENAEXTENDED, BYTEAOID}
	};

	if (form->amproclefttype != form->amprocrighttype)
		return false;
	for (int i = 0; i < (int) lengthof(borrowed); i++)
	{
		if (form->amproc == borrowed[i].function &&
			form->amproclefttype == borrowed[i].type)
			return true;
	}
	return check_amproc_signature(form->amproc, INT8OID, false, 2, 2,
								  form->amproclefttype, INT8OID);
}

/*
 * Are the support functions of a class there, so many of them, and of the right
 * kind?
 */
static bool
validate_functions(Form_pg_opclass class, int functions)
{
	CatCList   *list = SearchSysCacheList1(AMPROCNUM,
										   ObjectIdGetDatum(class->opcfamily));
	bool		there[HAMMING_PROCS + 1] = {false};
	bool		fine = true;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amproc form =
		(Form_pg_amproc) GETSTRUCT(&list->members[i]->tuple);

		if (!(form->amprocnum == HAMMING_COMPARE_PROC ?
			  form->amproc == F_BTINT8CMP : is_hash(form)))
			fine = complain(class,
							"operator class \"%s\" of access method hamming has a wrong support function: %s",
							format_procedure(form->amproc));
		else if (form->amproclefttype == class->opcintype)
			there[form->amprocnum] = true;
	}
	ReleaseSysCacheList(list);
	for (int i = 1; i <= functions; i++)
	{
		if (!there[i])
			fine = complain(class,
							"operator class \"%s\" of access method hamming lacks support function %s",
							psprintf("%d", i));
	}
	return fine;
}

/*
 * Does a hash function agree with an operator: is it that of a hash class with
 * this operator?  PostgreSQL's own functions for a type yield the same in every
 * version, and some have got another name.  An operator of no hash class has to
 * be an equality at least.
 */
static bool
hash_agrees(Oid operator, Oid type, Oid function)
{
	CatCList   *list = SearchSysCacheList1(AMOPOPID,
										   ObjectIdGetDatum(operator));
	bool		equality = op_hashjoinable(operator, type);
	bool		hashed = false;
	bool		agrees = false;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);
		Oid			theirs;

		equality |= form->amopmethod == BTREE_AM_OID &&
			form->amopstrategy == BTEqualStrategyNumber;
		if (form->amopmethod != HASH_AM_OID)
			continue;
		theirs = get_opfamily_proc(form->amopfamily, type, type,
								   HASHEXTENDED_PROC);
		if (!OidIsValid(theirs))
			continue;
		hashed = true;
		agrees |= theirs == function ||
			(theirs < FirstGenbkiObjectId && function < FirstGenbkiObjectId);
	}
	ReleaseSysCacheList(list);
	return hashed ? agrees : equality;
}

/* Report an operator, if it is not an equality that its hashes agree with. */
static bool
validate_equality(Form_pg_opclass class, Form_pg_amop form)
{
	Oid			left = get_opfamily_proc(class->opcfamily, form->amoplefttype,
										 form->amoplefttype,
										 HAMMING_HASH_PROC);
	Oid			right = get_opfamily_proc(class->opcfamily,
										  form->amoprighttype,
										  form->amoprighttype,
										  HAMMING_HASH_PROC);

	if (form->amopstrategy != SIMHASH_EQUAL_STRATEGY ||
		form->amoppurpose != AMOP_SEARCH ||
		!check_amop_signature(form->amopopr, BOOLOID, form->amoplefttype,
							  form->amoprighttype))
		return complain(class,
						"operator class \"%s\" of access method hamming has an operator that is not an equality: %s",
						get_opname(form->amopopr));
	if (!OidIsValid(left) || !OidIsValid(right))
		return complain(class,
						"operator class \"%s\" of access method hamming lacks a hash function for operator %s",
						get_opname(form->amopopr));
	if (!hash_agrees(form->amopopr, form->amoplefttype, left) ||
		!hash_agrees(form->amopopr, form->amoprighttype, right))
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method hamming has a hash function that does not agree with operator %s",
						NameStr(class->opcname),
						get_opname(form->amopopr)),
				 errhint("Take the operator and the extended hash function of a hash operator class.")));
	else
		return true;
	return false;
}

/*
 * Are the operators of a class right?  Of a class for fingerprints one for its
 * type must be among them, which vouches for the type.
 */
static bool
validate_operators(Form_pg_opclass class, bool for_equality)
{
	CatCList   *list = SearchSysCacheList1(AMOPSTRATEGY,
										   ObjectIdGetDatum(class->opcfamily));
	bool		any = for_equality;
	bool		fine = true;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);
		bool		right = for_equality ? validate_equality(class, form) :
		validate_search(class, form);

		any |= right && form->amoplefttype == class->opcintype;
		fine &= right;
	}
	ReleaseSysCacheList(list);
	return any ? fine :
		complain(class,
				 "operator class \"%s\" of access method hamming lacks an operator for its type",
				 NULL);
}

/*
 * Is a class for columns that are compared by =?  It has a hash, or ought to:
 * of fingerprints only bigint has = as well.
 */
static bool
is_for_equality(Form_pg_opclass class)
{
	Oid			type = class->opcintype;

	return OidIsValid(get_opfamily_proc(class->opcfamily, type, type,
										HAMMING_HASH_PROC)) ||
		(type != INT8OID &&
		 OidIsValid(get_opfamily_member(class->opcfamily, type, type,
										SIMHASH_EQUAL_STRATEGY)));
}

/* Check an operator class; reports what is wrong, as amvalidate() wants it. */
bool
hamming_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class;
	bool		for_equality;
	bool		fine;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("operator class with OID %u does not exist",
						opclass)));
	class = (Form_pg_opclass) GETSTRUCT(tuple);

	for_equality = is_for_equality(class);
	fine = validate_operators(class, for_equality);
	fine &= validate_functions(class, for_equality ? HAMMING_HASH_PROC :
							   HAMMING_COMPARE_PROC);

	/* A class that does not say what is stored stores amkeytype. */
	if (OidIsValid(class->opckeytype) && class->opckeytype != INT8OID)
		fine = complain(class,
						"operator class \"%s\" of access method hamming does not store bigint",
						NULL);
	ReleaseSysCache(tuple);
	return fine;
}
