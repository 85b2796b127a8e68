/*-------------------------------------------------------------------------
 *
 * html_elements.c
 *		Elements of HTML: what each is, and which ones are open.
 *
 * No tree is built.  Of the standard's construction of one there is what the text
 * of a page depends on: a stack of open elements, what the start of an element
 * ends, as "<li>" ends the list item before it, and which of them an end tag
 * ends, if any.  So a part that nobody sees ends where a browser ends it, also
 * where tags are missing or cross.
 *
 * For example, by "<ul><li hidden>a<li>b</ul>c" the second "<li>" finds an open
 * ITEM before it comes to a SPECIAL element, the list, and ends it: "b" is seen.
 * In "<b hidden>a<div>b</b>c" the end tag takes away the b alone, since it is of
 * the elements that others may outlast (OUTLASTED): the div stays, and "c" is
 * seen.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/html.h"

#include <string.h>

/* Roles of elements: what searches among those that are open stop at. */
#define SPECIAL		0x1			/* special, by the standard */
#define LOOSE		0x2			/* special as well, but not to list items */
#define SCOPE		0x4
#define BUTTON		0x8
#define LIST		0x10
#define TABLE		0x20
#define ANY			UINT32_MAX

/* ... and what they look for. */
#define P			0x40
#define ITEM		0x80
#define TERM		0x100
#define OPTION		0x200
#define OPTGROUP	0x400
#define RUBY		0x800
#define HEADING		0x1000
#define ANCHOR		0x2000
#define CELL		0x4000
#define ROW			0x8000
#define SECTION		0x10000
#define CAPTION		0x20000

/* Others. */
#define ENDS_P		0x40000		/* its start ends a p */
#define OUTLASTED	0x80000		/* its end may leave open what is in it */
#define FOLDING		0x100000	/* SH_OUT, or SH_FOLDED, unless it is open */
#define SUMMARY		0x200000	/* SH_SHOWN, directly in what folds */
#define LEAVES		0x400000	/* ends SVG and MathML */
#define SELECT		0x800000
#define ANSWERED	0x1000000	/* its end tag ends a line, whatever is open */

#define BLOCK		(SPECIAL | ENDS_P)
#define TABLE_PART	(CELL | ROW | SECTION | CAPTION)

/* Part of the specification: elements that are not merely inline. */
typedef struct ShElementKind
{
	const char *names;
	uint32_t	flags;
	uint32_t	roles;
	uint32_t	ends;			/* its start ends those of these roles ... */
	uint32_t	ends_until;		/* ... that are open within one of these */
	uint32_t	within;			/* so does its end with its namesakes */
} ShElementKind;

static const ShElementKind html_kinds[] = {
	{"article blockquote center dir dl fieldset figcaption figure header hgroup "
	"main menu search section", SH_BLOCK, BLOCK, 0, 0, SCOPE},
	{"aside footer nav", SH_BLOCK | SH_APART, BLOCK, 0, 0, SCOPE},
	{"address div", SH_BLOCK, LOOSE | ENDS_P, 0, 0, SCOPE},
	{"ol ul", SH_BLOCK, BLOCK | LIST, 0, 0, SCOPE},
	{"li", SH_BLOCK, BLOCK | ITEM, ITEM, SPECIAL, SCOPE | LIST},
	{"dd dt", SH_BLOCK, BLOCK | TERM, TERM, SPECIAL, SCOPE},
	{"p", SH_BLOCK | SH_PARAGRAPH, LOOSE | ENDS_P | P | ANSWERED, 0, 0, SCOPE | BUTTON},
	{"h1 h2 h3 h4 h5 h6", SH_BLOCK, BLOCK | HEADING, HEADING, ANY, SCOPE},
	{"details", SH_BLOCK | SH_FOLDED, BLOCK | FOLDING, 0, 0, SCOPE},
	{"summary", SH_BLOCK, BLOCK | SUMMARY, 0, 0, SCOPE},
	{"dialog", SH_BLOCK | SH_OUT, ENDS_P | FOLDING, 0, 0, SCOPE},
	{"form", SH_BLOCK, BLOCK | OUTLASTED, 0, 0, SCOPE},
	{"listing pre", SH_BLOCK | SH_PRE, BLOCK, 0, 0, SCOPE},
	{"xmp", SH_BLOCK | SH_PRE | SH_RAW, BLOCK, 0, 0, 0},
	{"plaintext", SH_BLOCK | SH_PRE | SH_RAW | SH_PLAINTEXT, BLOCK, 0, 0, 0},
	{"legend", SH_BLOCK, 0, 0, 0, SPECIAL | LOOSE},
	{"select", SH_FOLDED, SPECIAL | SELECT, 0, 0, SCOPE},
	{"optgroup", SH_BLOCK, OPTGROUP, OPTION | OPTGROUP, SPECIAL,
	SPECIAL | LOOSE},
	{"option", SH_BLOCK, OPTION, OPTION, SPECIAL, SPECIAL | LOOSE},

	{"table", SH_BLOCK, BLOCK | SCOPE | TABLE, 0, 0, TABLE},
	{"caption", SH_BLOCK, SPECIAL | SCOPE | CAPTION, TABLE_PART, TABLE, TABLE},
	{"tbody tfoot thead", SH_BLOCK, SPECIAL | SECTION, TABLE_PART, TABLE, TABLE},
	{"tr", SH_BLOCK, SPECIAL | ROW, CAPTION | CELL | ROW, TABLE, TABLE},
	{"td th", SH_CELL, SPECIAL | SCOPE | CELL, CAPTION | CELL, TABLE, TABLE},

	{"a", 0, OUTLASTED | ANCHOR, ANCHOR, SCOPE, SCOPE},
	{"b big code em font i nobr s small strike strong tt u", 0, OUTLASTED, 0, 0,
	SCOPE},
	{"button", 0, SPECIAL | BUTTON, BUTTON, SCOPE, SCOPE},
	{"applet marquee object", 0, SPECIAL | SCOPE, 0, 0, SCOPE},
	{"rt", 0, RUBY, RUBY, SPECIAL | LOOSE, SPECIAL | LOOSE},
	{"rp", SH_OUT, RUBY, RUBY, SPECIAL | LOOSE, SPECIAL | LOOSE},

	{"template", SH_OUT, SPECIAL | SCOPE | TABLE, 0, 0, 0},
	{"audio canvas datalist meter progress video", SH_OUT, 0, 0, 0,
	SPECIAL | LOOSE},
	{"iframe noembed noframes noscript style textarea title", SH_OUT | SH_RAW,
	0, 0, 0, 0},
	{"script", SH_OUT | SH_RAW | SH_SCRIPT, 0, 0, 0, 0},

	{"br", SH_VOID | SH_BREAK, ANSWERED, 0, 0, 0},
	{"hr", SH_VOID | SH_BLOCK, ENDS_P, 0, 0, 0},
	{"area base basefont bgsound body col colgroup embed frame frameset head "
		"html image img input keygen link meta param source track wbr", SH_VOID,
	0, 0, 0, 0},

	{"math svg", SH_FOREIGN | SH_FOLDED, 0, 0, 0, SPECIAL | LOOSE},
};

/* Part of the specification: those within SVG and MathML, likewise. */
static const ShElementKind foreign_kinds[] = {
	{"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 "
		"h6 head hr i img li listing menu meta nobr ol p pre ruby s small span "
	"strike strong sub sup table tt u ul var", 0, LEAVES, 0, 0, 0},
	{"text", SH_BLOCK | SH_SHOWN, 0, 0, 0, 0},
	{"foreignobject", SH_BLOCK | SH_SHOWN | SH_HTML, SPECIAL | SCOPE, 0, 0, 0},
	{"desc title", SH_OUT | SH_HTML, SPECIAL | SCOPE, 0, 0, 0},
	{"mtd", SH_CELL | SH_SHOWN, 0, 0, 0, 0},
	{"mi mn mo ms mtext", SH_BLOCK | SH_SHOWN | SH_HTML, SPECIAL | SCOPE, 0, 0, 0},
	{"annotation annotation-xml metadata mphantom script style", SH_OUT, 0, 0, 0,
	0},
};
static const ShElementKind inline_kind = {"", 0, 0, 0, 0, SPECIAL | LOOSE};

#define SLOT_SHIFT	54			/* leaves what counts SH_HTML_SLOTS */
#define FOREIGN		UINT64_C(0x2545f4914f6cdd1d)

/* The slot of a name, or the empty one where it belongs. */
static struct ShHtmlSlot *
find_slot(ShHtmlNames *names, uint64_t name)
{
	size_t		i = (size_t) (name >> SLOT_SHIFT);

	while (names->slots[i].kind != NULL && names->slots[i].name != name)
		i = (i + 1) % SH_HTML_SLOTS;
	return &names->slots[i];
}

/* Give the names of kinds their slots. */
static void
fill_slots(ShHtmlNames *names, const ShElementKind *kind, size_t n,
		   uint64_t foreign)
{
	for (const char *p = kind->names; n > 0; p++)
	{
		uint64_t	name = 0;

		for (; *p > ' '; p++)
			name = sh_html_hash(name, (unsigned char) *p);
		*find_slot(names, name ^ foreign) = (struct ShHtmlSlot)
		{
			name ^ foreign, kind
		};
		if (*p == '\0' && --n > 0)
			p = (++kind)->names - 1;
	}
}

/* The kind of an element among those of HTML, or of the other languages. */
static const ShElementKind *
find_kind(ShHtmlNames *names, uint64_t name, bool foreign)
{
	const struct ShHtmlSlot *slot = find_slot(names,
											  foreign ? name ^ FOREIGN : name);

	return slot->kind == NULL ? &inline_kind : slot->kind;
}

/* The bit of a name in ShElement.all_names. */
static inline uint64_t
name_bit(uint64_t name)
{
	return UINT64_C(1) << (name >> 58);
}

/* Say what those around an open element add to it. */
static void
inherit(ShElement *element)
{
	ShElement  *around = element - 1;
	bool		hidden = element->flags & SH_SHOWN ? around->shown_hidden :
	around->hidden;

	element->all_flags = around->all_flags | element->flags;
	element->all_roles = around->all_roles | element->roles;
	element->all_names = around->all_names | name_bit(element->name);
	element->foreign = (element->flags & SH_FOREIGN) != 0 ||
		(around->foreign && !(element->flags & SH_HTML));
	element->shown_hidden = (element->flags & SH_OUT) != 0 ||
		(element->flags & SH_FOLDED ? around->hidden : around->shown_hidden);
	element->block = element->flags & SH_OWN ? element : around->block;
	element->hidden = hidden || (element->flags & (SH_OUT | SH_FOLDED)) != 0;
}

/*
 * The innermost element starts or ends: so does a line, or a column.  The text
 * before is of another one with lines of its own, or of itself.
 */
static void
separate(ShHtml *html, ShElement *block)
{
	const ShElement *element = sh_html_top(html);

	if (element->hidden)
		return;
	if (html->article.wanted && element->flags & (SH_BLOCK | SH_CELL))
		sh_article_end_block(html, block);
	if (element->flags & (SH_BLOCK | SH_BREAK))
		sh_html_separate(html, SH_GAP_LINE);
	else if (element->flags & SH_CELL)
		sh_html_separate(html, SH_GAP_TAB);
}

/* Open an element. */
static void
enter(ShHtml *html, uint64_t name, uint32_t flags, uint32_t roles)
{
	ShElement  *element = &html->open[++html->depth];

	element->name = name;
	element->flags = flags;
	element->roles = roles;
	inherit(element);
	separate(html, element[-1].block);
	if (!element->hidden && flags & (SH_BLOCK | SH_CELL))
	{
		element->flags |= SH_OWN;
		element->block = element;
	}
	element->start = (size_t) (html->to - html->start);
	element->credit = 0;
}

/* A cell ends before which there was so much text: mark it, if it is empty. */
static void
mark_empty(ShHtml *html, size_t start)
{
	for (const unsigned char *p = html->start + start; p < html->to; p++)
	{
		if (*p > ' ' && *p != 0xc2 && *p != 0xa0)	/* of a blank, U+00A0 */
			return;
	}
	sh_html_write_gap(html);
	for (const char *p = html->empty; *p != '\0'; p++)
		*html->to++ = (unsigned char) *p;
}

/* Close an open element, and all in it. */
static void
leave(ShHtml *html, int depth)
{
	for (; html->depth >= depth; html->depth--)
	{
		ShElement  *element = &html->open[html->depth];

		if (html->empty != NULL && element->flags & SH_CELL && !element->hidden)
			mark_empty(html, element->start);
		separate(html, element->block);
		if (html->article.wanted && element->block == element)
			sh_article_end_element(html, element);
	}
}

/*
 * Close an open element, and what is in it; but where something special is in
 * one that is OUTLASTED, that alone.
 */
static void
end_element(ShHtml *html, int depth)
{
	ShElement  *element = &html->open[depth];
	bool		special = false;

	for (int i = depth + 1; i <= html->depth; i++)
		special |= (html->open[i].roles & (SPECIAL | LOOSE)) != 0;
	if (!special || (element->roles & OUTLASTED) == 0)
	{
		leave(html, depth);
		return;
	}
	if (html->article.wanted && element->block == element)
		sh_article_end_element(html, element);
	memmove(element, element + 1,
			(size_t) (html->depth - depth) * sizeof *element);
	html->depth--;
	for (; element <= &html->open[html->depth]; element++)
		inherit(element);
}

/* The innermost open element of some roles that is not around one of others; or 0. */
static int
find_role(const ShHtml *html, uint32_t roles, uint32_t within)
{
	for (int i = html->depth; html->open[i].all_roles & roles; i--)
	{
		if (html->open[i].roles & roles)
			return i;
		if (html->open[i].roles & within || within == ANY)
			break;
	}
	return 0;
}

/* The innermost open element of a name, likewise. */
static int
find_name(const ShHtml *html, uint64_t name, uint32_t within)
{
	for (int i = html->depth; html->open[i].all_names & name_bit(name); i--)
	{
		if (html->open[i].name == name)
			return i;
		if (html->open[i].roles & within)
			break;
	}
	return 0;
}

/* End what the start of an element ends. */
static void
end_others(ShHtml *html, const ShElementKind *kind)
{
	int			depth;

	while ((depth = find_role(html, kind->ends, kind->ends_until)) > 0)
		end_element(html, depth);
	if (kind->roles & ENDS_P &&
		(depth = find_role(html, P, SCOPE | BUTTON)) > 0)
		end_element(html, depth);
}

/* What an element is, by its kind and its attributes. */
static uint32_t
element_flags(const ShElement *around, const ShElementKind *kind,
			  const ShTag *tag)
{
	uint32_t	flags = kind->flags;
	bool		foreign = around->foreign || flags & SH_FOREIGN;

	if (kind->roles & OPTION && around->all_roles & SELECT)
		return flags | SH_SHOWN;
	if (kind->roles & FOLDING && tag->open)
		flags &= ~(uint32_t) (SH_OUT | SH_FOLDED);
	if (kind->roles & SUMMARY && around->roles & FOLDING &&
		around->flags & SH_FOLDED)
		flags |= SH_SHOWN;
	if (foreign && tag->closes)
		flags |= SH_VOID;
	if (!foreign && tag->hidden)
		flags |= SH_OUT;
	return flags | (kind->roles & ANCHOR ? tag->flags : tag->flags & SH_OUT);
}

/* Begin a page. */
void
sh_html_begin(ShHtml *html)
{
	ShHtmlNames *names = html->names;

	if (!names->filled)
	{
		fill_slots(names, html_kinds, sizeof html_kinds / sizeof *html_kinds, 0);
		fill_slots(names, foreign_kinds,
				   sizeof foreign_kinds / sizeof *foreign_kinds, FOREIGN);
		names->filled = true;
	}
	memset(&html->open[0], 0, sizeof html->open[0]);
	html->open[0].block = &html->open[0];
	html->depth = 0;
}

/*
 * Read the start tag of an element, and return what the element is.  It is open
 * then, unless it has no content, or too many are.
 */
uint32_t
sh_html_start_tag(ShHtml *html, const ShTag *tag)
{
	const ShElementKind *kind = find_kind(html->names, tag->name,
										  sh_html_top(html)->foreign);
	uint32_t	flags;

	if (html->article.wanted)
		sh_article_count(html);
	if (kind->roles & LEAVES)
	{
		while (sh_html_top(html)->foreign)
			leave(html, html->depth);
		kind = find_kind(html->names, tag->name, false);
	}
	if (kind->roles & TABLE_PART && find_role(html, TABLE, 0) == 0)
		return 0;
	end_others(html, kind);
	flags = element_flags(sh_html_top(html), kind, tag);
	enter(html, kind->roles & HEADING ? 0 : tag->name, flags, kind->roles);
	if (flags & SH_VOID || (html->depth > SH_HTML_OPEN && !(flags & SH_RAW)))
		leave(html, html->depth);
	return flags;
}

/*
 * Read an end tag: it closes the innermost element of that name, unless that is
 * around another one that end tags do not look beyond.
 */
void
sh_html_end_tag(ShHtml *html, uint64_t name)
{
	const ShElementKind *kind = find_kind(html->names, name, false);
	int			depth = find_name(html, kind->roles & HEADING ? 0 : name,
								  kind->within);

	if (html->article.wanted)
		sh_article_count(html);
	if (depth > 0)
		end_element(html, depth);
	else if (kind->roles & ANSWERED && !sh_html_top(html)->hidden)
		sh_html_separate(html, SH_GAP_LINE);
}

/* End a page whose article is wanted. */
void
sh_html_end(ShHtml *html)
{
	sh_article_count(html);
	sh_article_end_block(html, html->open[html->depth].block);
	leave(html, 1);
	sh_article_end_element(html, html->open);
}
