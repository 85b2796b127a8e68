/*-------------------------------------------------------------------------
 *
 * hamming_validate.c
 *		Whether an operator class is one that a hamming index can serve.
 *
 * A scan goes by the numbers of the strategies alone, and the btree code
 * within compares keys by support function 1.  So anything but the operators
 * of this extension would be answered wrongly, or worse.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "index/hamming.h"
#include "search/search.h"

/*
 * Is an operator the one that a scan answers by that strategy?  A scan goes by
 * the number of the strategy alone, so no other will do.
 */
static bool
is_our_operator(Form_pg_amop form)
{
	const SimhashOperator *operator =
	simhash_operator(get_opcode(form->amopopr));
	bool		ordering;

	if (operator == NULL || operator->strategy != form->amopstrategy)
		return false;
	ordering = operator->query == SIMHASH_ORDER;
	return form->amoppurpose == (ordering ? AMOP_ORDER : AMOP_SEARCH) &&
		(operator->searched == SIMHASH_FINGERPRINTS) ==
		(form->amoplefttype == INT8OID);
}

/*
 * Are the operators of a class those that a scan can answer?  One for the
 * type of the class must be among them, which vouches for the type.  What is
 * wrong is reported.
 */
static bool
validate_operators(Form_pg_opclass class)
{
	CatCList   *list = SearchSysCacheList1(AMOPSTRATEGY,
										   ObjectIdGetDatum(class->opcfamily));
	bool		any = false;
	bool		fine = true;
	int			i;

	for (i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);
		bool		ordering = form->amopstrategy == SIMHASH_DISTANCE_STRATEGY;

		if (!is_our_operator(form))
		{
			ereport(INFO,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("operator class \"%s\" of access method hamming has an operator that is none of its own: %s",
							NameStr(class->opcname),
							get_opname(form->amopopr))));
			fine = false;
		}
		else if (!check_amop_signature(form->amopopr,
									   ordering ? INT4OID : BOOLOID,
									   form->amoplefttype,
									   form->amoprighttype))
		{
			ereport(INFO,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("operator class \"%s\" of access method hamming has an operator with a wrong signature: %s",
							NameStr(class->opcname),
							get_opname(form->amopopr))));
			fine = false;
		}
		else
			any |= form->amoplefttype == class->opcintype;
	}
	ReleaseSysCacheList(list);
	if (!any)
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method hamming lacks an operator for its type",
						NameStr(class->opcname))));
		fine = false;
	}
	return fine;
}

/* Are the support functions of a class there, and of the right kind? */
static bool
validate_functions(Form_pg_opclass class)
{
	CatCList   *list = SearchSysCacheList1(AMPROCNUM,
										   ObjectIdGetDatum(class->opcfamily));
	bool		compare = false;
	bool		fine = true;
	int			i;

	for (i = 0; i < list->n_members; i++)
	{
		Form_pg_amproc form =
		(Form_pg_amproc) GETSTRUCT(&list->members[i]->tuple);

		if (form->amprocnum != HAMMING_COMPARE_PROC ||
			form->amproc != F_BTINT8CMP)
		{
			ereport(INFO,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("operator class \"%s\" of access method hamming has a wrong support function: %s",
							NameStr(class->opcname),
							format_procedure(form->amproc))));
			fine = false;
		}
		else if (form->amproclefttype == class->opcintype)
			compare = true;
	}
	ReleaseSysCacheList(list);
	if (!compare)
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method hamming lacks support function 1",
						NameStr(class->opcname))));
		fine = false;
	}
	return fine;
}

/* Check an operator class; reports what is wrong, as amvalidate() wants it. */
bool
hamming_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class;
	Oid			stored;
	bool		fine;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("operator class with OID %u does not exist",
						opclass)));
	class = (Form_pg_opclass) GETSTRUCT(tuple);
	stored = OidIsValid(class->opckeytype) ? class->opckeytype :
		class->opcintype;

	fine = validate_operators(class);
	fine &= validate_functions(class);
	if (stored != INT8OID)
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method hamming does not store bigint",
						NameStr(class->opcname))));
		fine = false;
	}
	ReleaseSysCache(tuple);
	return fine;
}
