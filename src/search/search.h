/*-------------------------------------------------------------------------
 *
 * search.h
 *		The operators of Hamming search, and balls.
 *
 * Comes in: values of SQL, bigint or bit strings as fingerprints, and balls,
 * by which fingerprints are searched for.  Goes out: how far fingerprints are
 * apart, what a ball says, and, to the planner and the index, which operators
 * there are.  Two things that reports and the guard have in common are here,
 * too: expressions that a user gives as text (source.c), and what these say of the
 * documents (derivation.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_H
#define SIMHASH_SEARCH_H

#include "compare/compare.h"

#include "access/tupdesc.h"
#include "catalog/pg_type_d.h"

/* A bit string. */
typedef struct SimhashBits
{
	int32		width;			/* how many bits */
	const unsigned char *bytes; /* the first bit at the top of the first */
} SimhashBits;

/* What is sought: the rows within the radius of the center. */
typedef struct SimhashBall
{
	int64		center;
	SimhashBits bits;			/* the center, if it is a bit string */
	int32		radius;			/* -1: nothing is that near */
} SimhashBall;

/* The numbers of the attributes of a ball. */
typedef struct SimhashBallAttributes
{
	AttrNumber	center;
	AttrNumber	radius;
} SimhashBallAttributes;

/* Strategies of the operator classes of hamming indexes. */
#define SIMHASH_NEAR_STRATEGY		1	/* ~= */
#define SIMHASH_BALL_STRATEGY		2	/* <@ */
#define SIMHASH_DISTANCE_STRATEGY	3	/* <~> or <~~>, for ORDER BY */
#define SIMHASH_EQUAL_STRATEGY		4	/* =, of any column */
#define SIMHASH_STRATEGIES			4

/* What an operator searches. */
typedef enum SimhashSearched
{
	SIMHASH_FINGERPRINTS,		/* bigint */
	SIMHASH_BALLS,				/* hamming_ball */
	SIMHASH_BITS,				/* bit(n) */
	SIMHASH_BIT_BALLS			/* hamming_bit_ball */
} SimhashSearched;

/* What the other side says. */
typedef enum SimhashQuery
{
	SIMHASH_CENTER,				/* bigint: within SH_NEAR of it */
	SIMHASH_BALL,				/* a ball: within its radius */
	SIMHASH_LIMIT,				/* a center, and a third argument: how far */
	SIMHASH_ORDER				/* bigint, bit(n): by the distance from it */
} SimhashQuery;

/* Side 0 of an operator is the left one, side 1 the right one. */
#define SIMHASH_SIDE(side)	(1 << (side))

/* An operator; see operators.c. */
typedef struct SimhashOperator
{
	PGFunction	function;
	int			strategy;		/* of operator classes; 0: none */
	SimhashSearched searched;
	int			sides;			/* where what is searched may stand */
	SimhashQuery query;
} SimhashOperator;

/* How an expression makes a fingerprint of a document. */
typedef struct SimhashDerivation
{
	SimhashMeasure measure;		/* that distances estimate: SIMHASH_JACCARD or
								 * SIMHASH_COSINE */
	const ShProfile *profile;	/* the default one for text[] */
	Node	   *document;		/* of type text or text[] */
} SimhashDerivation;

/* What an expression is that a user gives as text. */
typedef enum SimhashSource
{
	SIMHASH_KEYS,
	SIMHASH_FINGERPRINT,
	SIMHASH_DOCUMENT,
	SIMHASH_CONDITION,
	SIMHASH_GROUP,
	SIMHASH_MOMENT
} SimhashSource;

/* An integer of any type as the bigint that it equals. */
static inline int64
simhash_integer(Datum value, Oid type)
{
	if (type == INT2OID)
		return DatumGetInt16(value);
	if (type == INT4OID)
		return DatumGetInt32(value);
	return DatumGetInt64(value);
}

/*
 * What there is below a relabeling, as of a domain, or a COLLATE, as the
 * planner has not seen it yet: these change no value.
 */
static inline Node *
simhash_unlabeled(Node *expression)
{
	while (expression != NULL &&
		   (IsA(expression, RelabelType) || IsA(expression, CollateExpr)))
		expression = IsA(expression, RelabelType) ?
			(Node *) ((RelabelType *) expression)->arg :
			(Node *) ((CollateExpr *) expression)->arg;
	return expression;
}

/* functions.c */
extern char *simhash_write_value(Datum value, Oid type);
extern PGFunction simhash_c_function(Oid function);
extern bool simhash_may_call(PlannerInfo *root, Oid function);
extern Oid	simhash_own_function(PlannerInfo *root, Oid schema,
								 const char *name, PGFunction function,
								 int nargs, const Oid *types);

/* group_hash.c */
extern uint32 simhash_hash(FmgrInfo *function, Oid collation, Datum value);
extern uint64 simhash_hash_extended(FmgrInfo *function, Oid collation,
									Datum value, int64 seed);
extern bool simhash_can_hash(Oid type, Oid collation);

/* ball.c */
extern int	simhash_check_radius(int64 radius, int bits);
extern bool simhash_get_ball(Datum datum, Oid center_type, bool complain,
							 SimhashBall *ball);
extern SimhashBits simhash_get_bits(Datum datum);
extern Datum simhash_make_ball(TupleDesc desc, Oid center_type, Datum center,
							   int64 radius);
extern bool simhash_find_ball_attributes(TupleDesc desc, Oid center,
										 SimhashBallAttributes *attributes);
extern Oid	simhash_ball_center_type(Oid type, int32 typmod,
									 SimhashBallAttributes *attributes);
extern bool simhash_has_value_of_row(Node *node, void *context);
extern bool simhash_is_of_query(FmgrInfo *flinfo, int argument);
extern PGDLLEXPORT Datum hamming_ball(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_bit_ball(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_reach(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_bit_reach(PG_FUNCTION_ARGS);
extern void simhash_check_width(int width);

/* distance.c */
extern PGDLLEXPORT Datum hamming(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_near(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_within(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_contains(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_balls_near(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_within_k(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_bit(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_bit_within(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_bit_contains(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_bit_balls_near(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum hamming_bit_within_k(PG_FUNCTION_ARGS);
extern int	simhash_bits_distance(const SimhashBits *a, const SimhashBits *b);
extern void simhash_check_widths(int32 a, int32 b);

/* operators.c */
extern const SimhashOperator *simhash_operator(Oid function);
extern const SimhashOperator *simhash_search_operator(Oid function);

/* derivation.c */
extern int	simhash_find_derivations(Relation relation, Node *expression,
									 SimhashDerivation *derived);
extern bool simhash_get_derivation(Node *expression,
								   SimhashDerivation *derived);

/* source.c */
extern Node *simhash_read_source(Relation relation, const char *source,
								 SimhashSource kind);
extern Node *simhash_generation(Relation relation, const Node *expression);
extern bool simhash_is_of_core(Node *expression);
extern void simhash_check_order(Relation relation, const char *order);
extern Node *simhash_read_again(Relation relation, Node *expression);
extern char *simhash_write_expression(Relation relation, Node *expression,
									  const char *alias, bool prefixed);
extern Node *simhash_check_fingerprint(Oid oid, const char *source, Oid *type,
									   int *width);

#endif							/* SIMHASH_SEARCH_H */
