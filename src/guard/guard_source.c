/*-------------------------------------------------------------------------
 *
 * guard_source.c
 *		The option fingerprint=expression of simhash_guard(): parses the
 *		expression, and refuses one that could run somebody else's code.
 *
 * The expression is over the columns of the row, as that of a generated column
 * or a CHECK constraint, and like these it runs with the rights of whoever
 * inserts.  But in those, names are looked up once, when the owner of the
 * table creates them.  An argument of a trigger is a text whose names are
 * looked up by each statement.
 *
 * For example, the owner writes fingerprint=normalise(body) and means the
 * function normalise(text) in the schema public.  Later Mallory creates
 * another normalise in a schema that comes first in somebody's search_path, or
 * normalise(varchar) in public, which fits a body of type varchar better.  It
 * must not be called, for it would run with the rights of all who insert.
 *
 * A role is trusted if it is a superuser, the owner of the database, the owner
 * of the table, or a role that can act as the owner of the table.  The rules:
 *
 *	- Names are looked up in safe schemas only.  A schema is safe if none but
 *	  trusted roles can create objects in it.  The search_path of the session
 *	  plays no part: names are looked up in pg_catalog, then in the schemas of
 *	  the extension and of the table, where these are safe.  Another schema has
 *	  to be named in the expression, and must be safe.
 *	- Functions, operators and types that are found there must belong to
 *	  trusted roles, for the owner of an object can change it.
 *	- Nothing is executed before all this is known.  To parse a constant such
 *	  as 'x'::public.mytype calls the input function of the type: so schemas
 *	  are checked in the parse tree, before names are looked up.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_node.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "search/source.h"

/* Whom an expression may depend on. */
typedef struct Trust
{
	const char *trigger;
	Oid			table_owner;
	Oid			database_owner;
	StringInfoData path;		/* of safe schemas */
} Trust;

/* A field of a catalogue row that is an oid. */
static Oid
catalog_oid(int cache, Oid object, AttrNumber column)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(object));
	bool		isnull;
	Oid			result;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("object %u does not exist", object)));
	result = DatumGetObjectId(SysCacheGetAttr(cache, tuple, column, &isnull));
	ReleaseSysCache(tuple);
	return result;
}

/* Is the role trusted? */
static bool
is_trusted(const Trust *trust, Oid role)
{
	return role == trust->table_owner || role == trust->database_owner ||
		role == ROLE_PG_DATABASE_OWNER ||
		(OidIsValid(role) &&
		 (superuser_arg(role) ||
		  is_member_of_role_nosuper(role, trust->table_owner)));
}

/* Is the schema safe: can none but trusted roles create objects in it? */
static bool
is_safe_schema(const Trust *trust, Oid schema)
{
	HeapTuple	tuple;
	Datum		datum;
	bool		isnull;
	bool		safe;

	if (schema == PG_CATALOG_NAMESPACE)
		return true;
	if (isAnyTempNamespace(schema))
		return false;			/* that of the session, whosever it is */
	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	if (!HeapTupleIsValid(tuple))
		return false;
	safe = is_trusted(trust,
					  ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner);
	datum = SysCacheGetAttr(NAMESPACEOID, tuple, Anum_pg_namespace_nspacl,
							&isnull);
	if (!isnull)
	{
		Acl		   *acl = DatumGetAclPCopy(datum);

		for (int i = 0; i < ACL_NUM(acl); i++)
		{
			AclItem    *item = &ACL_DAT(acl)[i];

			if (ACLITEM_GET_PRIVS(*item) & ACL_CREATE)
				safe &= is_trusted(trust, item->ai_grantee);
		}
	}
	ReleaseSysCache(tuple);
	return safe;
}

/*
 * Fail unless the schema of a qualified name is safe.  A name without a schema
 * is looked up in safe schemas (set_safe_path), and last of all in the
 * temporary schema of the session; a type that is found there is refused.
 */
static void
check_name(const Trust *trust, List *name)
{
	char	   *schema;
	char	   *object;
	Oid			type;

	DeconstructQualifiedName(name, &schema, &object);
	type = schema == NULL ? TypenameGetTypid(object) : InvalidOid;
	if (OidIsValid(type) &&
		isAnyTempNamespace(catalog_oid(TYPEOID, type,
									   Anum_pg_type_typnamespace)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("trigger \"%s\": type \"%s\" is a temporary one",
						trust->trigger, object)));
	if (schema != NULL &&
		!is_safe_schema(trust, LookupExplicitNamespace(schema, false)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("trigger \"%s\": others may create objects in schema \"%s\"",
						trust->trigger, schema),
				 errdetail("They would run with the rights of whoever inserts."),
				 errhint("REVOKE CREATE ON SCHEMA %s, or move what the expression needs.",
						 quote_identifier(schema))));
}

/* raw_expression_tree_walker: check the names in the parse tree. */
static bool
check_names(Node *node, void *trust)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncCall))
		check_name(trust, ((FuncCall *) node)->funcname);
	else if (IsA(node, A_Expr) && ((A_Expr *) node)->name != NIL)
		check_name(trust, ((A_Expr *) node)->name);
	else if (IsA(node, TypeName) && ((TypeName *) node)->names != NIL)
		check_name(trust, ((TypeName *) node)->names);
	return raw_expression_tree_walker(node, check_names, trust);
}

/* Fail unless the owner of an object is trusted. */
static void
check_owner(const Trust *trust, Oid catalog, Oid oid, Oid owner)
{
	ObjectAddress object;

	if (is_trusted(trust, owner))
		return;
	ObjectAddressSet(object, catalog, oid);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("trigger \"%s\": %s belongs to \"%s\"",
					trust->trigger, getObjectDescription(&object, false),
					GetUserNameFromId(owner, true)),
			 errdetail("It would run with the rights of whoever inserts."),
			 errhint("It must belong to the owner of the table, of the database, or a superuser.")));
}

/* Check a function that an expression calls. */
static bool
check_function(Oid function, void *trust)
{
	if (function >= FirstUnpinnedObjectId)
		check_owner(trust, ProcedureRelationId, function,
					catalog_oid(PROCOID, function, Anum_pg_proc_proowner));
	return false;
}

/* Check a type that an expression converts to. */
static void
check_type(const Trust *trust, Oid type)
{
	if (type >= FirstUnpinnedObjectId)
		check_owner(trust, TypeRelationId, type,
					catalog_oid(TYPEOID, type, Anum_pg_type_typowner));
}

/* expression_tree_walker: check the owners of functions, operators, types. */
static bool
check_objects(Node *node, void *context)
{
	const Trust *trust = context;

	if (node == NULL)
		return false;
	(void) check_functions_in_node(node, check_function, context);
	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			if (((OpExpr *) node)->opno >= FirstUnpinnedObjectId)
				check_owner(trust, OperatorRelationId,
							((OpExpr *) node)->opno,
							catalog_oid(OPEROID, ((OpExpr *) node)->opno,
										Anum_pg_operator_oprowner));
			break;
		case T_Const:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_ConvertRowtypeExpr:
		case T_CoerceToDomain:
		case T_RowExpr:
		case T_ArrayExpr:
		case T_MinMaxExpr:
			check_type(trust, exprType(node));
			break;
		default:
			break;
	}
	return expression_tree_walker(node, check_objects, context);
}

/* expression_tree_walker: fail for columns no BEFORE trigger can read. */
static bool
check_columns(Node *node, void *context)
{
	Relation	relation = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		AttrNumber	column = ((Var *) node)->varattno;

		if (column == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("expression for the fingerprint cannot use a whole row")));
		if (column > 0 &&
			TupleDescAttr(RelationGetDescr(relation), column - 1)->attgenerated)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("expression for the fingerprint cannot use generated column \"%s\"",
							get_attname(RelationGetRelid(relation), column,
										false)),
					 errdetail("Generated columns are computed after BEFORE triggers.")));
		return false;
	}
	return expression_tree_walker(node, check_columns, context);
}

/* Look for names in safe schemas only, until AtEOXact_GUC of the level. */
static int
set_safe_path(Trust *trust, Oid extension, Oid table)
{
	int			level = NewGUCNestLevel();
	StringInfo	path = &trust->path;

	initStringInfo(path);
	appendStringInfoString(path, "pg_catalog");
	if (is_safe_schema(trust, extension))
		appendStringInfo(path, ", %s",
						 quote_identifier(get_namespace_name(extension)));
	if (table != extension && is_safe_schema(trust, table))
		appendStringInfo(path, ", %s",
						 quote_identifier(get_namespace_name(table)));
	/* Unless it is named it comes first. */
	appendStringInfoString(path, ", pg_temp");
	(void) set_config_option("search_path", path->data, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* Say of an error in the expression where it is, and where names were sought. */
static void
source_context(void *arg)
{
	const Trust *trust = arg;

	errcontext("option \"fingerprint\" of trigger \"%s\", with search_path %s",
			   trust->trigger, trust->path.data);
}

/*
 * The expression that a text stands for, over the columns of the relation.
 * The names in it are those of the root, for which the trigger was made;
 * "schema" is that of the extension.
 */
Expr	   *
simhash_guard_source(const Guard *guard, Relation relation, Oid root,
					 Oid schema, const char *source)
{
	Trust		trust;
	ParseState *pstate = make_parsestate(NULL);
	ErrorContextCallback outer;
	ErrorContextCallback inner;
	Node	   *expression;
	int			level;

	trust.trigger = guard->name;
	trust.table_owner = catalog_oid(RELOID, root, Anum_pg_class_relowner);
	trust.database_owner = catalog_oid(DATABASEOID, MyDatabaseId,
									   Anum_pg_database_datdba);
	pstate->p_sourcetext = source;
	level = set_safe_path(&trust, schema, get_rel_namespace(root));
	outer.callback = source_context;
	outer.arg = &trust;
	outer.previous = error_context_stack;
	error_context_stack = &outer;
	simhash_enter_source(&inner, source);
	expression = simhash_parse_source(source, false);
	(void) check_names(expression, &trust);
	expression = simhash_transform_source(pstate, relation, NULL, expression,
										  EXPR_KIND_GENERATED_COLUMN);
	simhash_leave_source(&inner);
	error_context_stack = outer.previous;
	AtEOXact_GUC(true, level);

	(void) check_objects(expression, &trust);
	(void) check_columns(expression, relation);
	if (exprType(expression) != guard->type.oid)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("expression for the fingerprint is of type %s, not %s",
						format_type_be(exprType(expression)),
						format_type_be(guard->type.oid))));
	expression = (Node *) expression_planner((Expr *) expression);
	if (contain_mutable_functions(expression))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("expression for the fingerprint is not immutable"),
				 errhint("Functions in it must be declared IMMUTABLE.")));
	free_parsestate(pstate);
	return (Expr *) expression;
}
