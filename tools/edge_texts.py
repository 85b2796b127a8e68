"""
+----------------------------------------------------------------------+
| Hand-made texts on which ways of reading a text are apt to differ.   |
|                                                                      |
| tools/data appends them to test/golden/texts.tsv.  Rows whose labels |
| share a stem and end in -a, -b, ... say the same thing in several    |
| encodings or spellings; whether they get one fingerprint is for the  |
| specification to say, and for the golden vectors to keep.            |
+----------------------------------------------------------------------+

SPDX-License-Identifier: PostgreSQL
"""

# Letters of invisible or confusable text are spelled as escapes; what a
# reader can see stands as it is.  A mark pile-up and other long runs are
# built by arithmetic, so that their length can be read off.

MARKS = "".join(chr(c) for c in range(0x0300, 0x0340))
CONTROLS = "".join(chr(c) for c in range(0x01, 0x20)) + "\x7f"
C1_CONTROLS = "".join(chr(c) for c in range(0x80, 0xA0))

EDGE_TEXTS = [
    # nothing, or next to nothing, to read
    ("empty", ""),
    ("spaces", " \t\n\r\v\f \u00a0\u1680\u2003\u2028\u2029\u202f\u3000 "),
    ("punctuation", ".,;:!?-_()[]{}<>\"'`~@#$%^&*+=|\\/"),
    ("punctuation-cjk", "。，、；：？！…—·「」『』（）《》〈〉【】"),
    ("one-letter", "a"),
    ("one-han", "好"),
    ("two-han", "你好"),
    ("digits", "2024 3.14 1,000,000 1e6 007 12:30 +49-30-1234"),
    ("controls", "a" + CONTROLS + "b"),
    ("controls-c1", "a" + C1_CONTROLS + "b"),
    ("escapes", "back\\slash \\n \\t \\N \\. tab\there line\nfeed \r\n end\\"),

    # characters that should not be seen
    ("soft-hyphen-a",
     "co\u00adoper\u00ada\u00adtion on in\u00adfor\u00adma\u00adtion"),
    ("soft-hyphen-b", "cooperation on information"),
    ("zero-width-space-a", "ภาษา\u200bไทย\u200bไม่\u200bเว้น\u200bวรรค"),
    ("zero-width-space-b", "ภาษาไทยไม่เว้นวรรค"),
    ("zwnj-persian-a", "می\u200cخواهم کتاب\u200cها را بخوانم"),
    ("zwnj-persian-b", "میخواهم کتابها را بخوانم"),
    ("zwj-sinhala-a", "ශ\u0dca\u200dර\u0dd3 ලංක\u0dcf"),
    ("zwj-sinhala-b", "ශ\u0dcaර\u0dd3 ලංක\u0dcf"),
    ("bom", "\ufeffbyte order\ufeff mark\ufeff"),
    ("bidi-marks",
     "\u202babc \u200fאבג\u200e \u2066def\u2069\u202c \u061cابت"),
    ("word-joiner", "non\u2060breaking\u2060here a\u034fb"),
    ("tag-characters", "flag \U0001f3f4\U000e0067\U000e0062\U000e0065"
     "\U000e006e\U000e0067\U000e007f end"),

    # one text in several widths and styles
    ("full-width-a", "ＰｏｓｔｇｒｅＳＱＬ　１８，ａｂｃ１２３！"),
    ("full-width-b", "PostgreSQL 18,abc123!"),
    ("half-width-katakana-a", "ﾎﾟｽﾄｸﾞﾚｽ ﾃﾞｰﾀﾍﾞｰｽ ｶﾞｷﾞｸﾞ"),
    ("half-width-katakana-b", "ポストグレス データベース ガギグ"),
    ("half-width-hangul", "ﾡﾢﾣ ￂￃￄ \uffa0"),
    ("ligatures-a",
     "e\ufb03cient \ufb01nal \ufb02ow o\ufb00er \ufb05op \ufb06op"),
    ("ligatures-b", "efficient final flow offer stop stop"),
    ("ligatures-armenian", "\ufb13\ufb14\ufb15\ufb16\ufb17 և եւ"),
    ("superscripts", "x² + y³ = zⁿ, H₂O, E=mc², 1ª 2º, ᵃᵇᶜ"),
    ("fractions", "½ ¼ ¾ ⅓ ⅛ 1⁄2 ↉"),
    ("latin1-specials", "µ ª º ¹ ² ³ ¼ ½ ¾ ß ÿ Å Ø Þ ð æ ¨ ¯ ´ ¸ × ÷ ¿ ¡"),
    ("roman-a", "Chapter Ⅷ and ⅷ, Ⅻ, Ⅽ"),
    ("roman-b", "Chapter VIII and viii, XII, C"),
    ("enclosed", "① ② ⑩ ⒜ Ⓐ ㈠ ㊀ ⒈ ❶ 🄰 🅰"),
    ("squared", "㎏ ㎡ ㏒ ㍿ ㋿ ㌀ ℡ № ℅ ™ ℀"),
    ("mathematical",
     "\U0001d400\U0001d4b7\U0001d520 \U0001d7d8\U0001d7e9 ℂ ℍ ℵ"),
    ("arabic-forms-a", "ﷲ ﻻ ﷺ \ufe8d\ufedf\ufeb4\ufefc\ufee1"),
    ("arabic-forms-b", "الله لا صلى الله عليه وسلم السلام"),
    ("hebrew-forms", "\ufb2a \ufb2b \ufb4f \ufb1d שׁ שׂ אל"),
    ("cjk-compatibility-a", "\uf900\uf96f\ufa0e\U0002f800"),
    ("cjk-compatibility-b", "\u8c48\u8aaa\ufa0e\u4e3d"),
    ("cjk-radicals", "\u2f00\u2f08\u2e8c 一人"),

    # case
    ("sharp-s-a", "Straße Maß GROẞE"),
    ("sharp-s-b", "STRASSE MASS GROSSE"),
    ("long-s", "Congreſs poſſeſſion ſtop \u1e9b"),
    ("dotted-i-a", "\u0130STANBUL D\u0130YARBAKIR"),
    ("dotted-i-b", "i\u0307stanbul di\u0307yarbakir"),
    ("dotted-i-c", "istanbul diyarbakir"),
    ("dotless-i", "Iğdır IĞDIR ığdır ılık ILIK"),
    ("digraphs", "Ǆ ǅ ǆ Ǉ ǈ ǉ Ǌ ǋ ǌ Ǳ ǲ ǳ Džep"),
    ("sigma-a", "ΟΔΥΣΣΕΥΣ ΣΟΦΟΣ Σ ΣΣ"),
    ("sigma-b", "οδυσσευς σοφος ς σς"),
    ("ypogegrammeni-a",
     "\u1fb3 \u1fc3 \u1ff3 \u1fbc \u1fcc \u1ffc \u1f80 \u1f88"),
    ("ypogegrammeni-b", "α\u0345 η\u0345 ω\u0345 Α\u0345 Η\u0345 Ω\u0345 "
     "α\u0313\u0345 Α\u0345\u0313"),
    ("ypogegrammeni-c", "αι ηι ωι ΑΙ ΗΙ ΩΙ α\u0313ι Α\u0313Ι"),
    ("ypogegrammeni-words", "ἀθῷος τῷ ἀγρῷ ΤΩι \u037a \u0345"),
    ("expanding", "ŉ ǰ ΐ ΰ ẖ ẗ ẘ ẙ ẚ ὒ ᾶ ῗ ῲ և İ"),
    ("kelvin-angstrom-a", "300 \u212a, 5 \u212b, 10 \u2126"),
    ("kelvin-angstrom-b", "300 K, 5 Å, 10 Ω"),
    ("cherokee-a", "ᎠᏂᏴᏫᏯ ᏣᎳᎩ"),
    ("cherokee-b", "ꭰꮒᏼꮻꮿ ꮳꮃꭹ"),
    ("georgian-a", "ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ"),
    ("georgian-b", "საქართველო"),
    ("georgian-c", "ႱႠႵႠႰႧႥႤႪႭ ⴑⴀⴕⴀⴐⴇⴅⴄⴊⴍ"),
    ("deseret", "\U00010414\U00010407 \U0001043c\U0001042f"),

    # composed and decomposed
    ("composed-a",
     "\u00c4pfel, fa\u00e7ade, \u00c5ngstr\u00f6m, \u00f1and\u00fa,"
     " \u01ed, \u1ec7, \u1ef1"),
    ("composed-b",
     "A\u0308pfel, fac\u0327ade, A\u030angstro\u0308m, n\u0303andu\u0301,"
     " o\u0328\u0304, e\u0323\u0302, u\u031b\u0323"),
    ("mark-order-a", "a\u0323\u0307 q\u0323\u0307 \u05d0\u05b8\u05bc"),
    ("mark-order-b", "a\u0307\u0323 q\u0307\u0323 \u05d0\u05bc\u05b8"),
    ("mark-pile-up", "z" + "".join(MARKS[i * 37 % len(MARKS)]
                                   for i in range(100)) + "algo text"),
    ("mark-alone", "\u0301 \u0301\u0301 a \u20dd"),
    ("hangul-jamo-a", "한국어 각 밟다 닭"),
    ("hangul-jamo-b", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165 "
     "\u1100\u1161\u11a8 \u1107\u1161\u11b2\u1103\u1161 \u1103\u1161\u11b0"),
    ("hangul-jamo-c", "한구\u11a8어 가\u11a8 바\u11b2다 다\u11b0"),
    ("hangul-compatibility", "ㅎㅏㄴㄱㅜㄱㅇㅓ ㅋㅋㅋ ㅠㅠ"),
    ("hangul-old",
     "나랏말\u110a\u119e\u1106\u1175 \u1102\u1161\u110d\u119e\u11bc"),
    ("dakuten-a", "がぎぐげご ぱぴぷぺぽ ガギグゲゴ ヴ ヷ"),
    ("dakuten-b",
     "か\u3099き\u3099く\u3099け\u3099こ\u3099 は\u309aひ\u309aふ\u309aへ\u309aほ\u309a "
     "カ\u3099キ\u3099ク\u3099ケ\u3099コ\u3099 ウ\u3099 ワ\u3099"),
    ("dakuten-c", "か゛き゛ は゜"),
    ("nukta-a", "\u0958\u0959\u095b\u095c ড় ঢ় য়"),
    ("nukta-b",
     "क\u093cख\u093cज\u093cड\u093c \u09a1\u09bc \u09a2\u09bc \u09af\u09bc"),
    ("tamil-vowels-a", "க\u0bcaக\u0bcbக\u0bcc"),
    ("tamil-vowels-b", "க\u0bc6\u0bbeக\u0bc7\u0bbeக\u0bc6\u0bd7"),
    ("thai-sara-am-a", "น\u0e49\u0e33 ท\u0e33 ຄ\u0eb3"),
    ("thai-sara-am-b", "น\u0e49\u0e4d\u0e32 ท\u0e4d\u0e32 ຄ\u0ecd\u0eb2"),
    ("thai-sara-am-c", "น\u0e4d\u0e49\u0e32 ท\u0e4d\u0e32 ຄ\u0ecd\u0eb2"),
    ("malayalam-chillu", "അവൻ അവന\u0d4d\u200d ൎ ർ"),
    ("tibetan-stack", "ཧཱུྃ ཧ\u0f71\u0f74\u0f83 \u0f73 \u0f75 \u0f77"),
    ("harakat-a", "كَتَبَ الوَلَدُ الدَّرْسَ كـــتاب"),
    ("harakat-b", "كتب الولد الدرس كتاب"),
    ("niqqud-a", "בְּרֵאשִׁית בָּרָא אֱלֹהִים"),
    ("niqqud-b", "בראשית ברא אלהים"),

    # Han beside other scripts, and far from the common ones
    ("han-latin", "我的iPhone手机有5G网络和USB-C接口，售价¥5999元"),
    ("han-extension", "\U00020bb7野家 \U00029e3d \U00030000 㐀 〇 々 〆 〡"),
    ("han-variants", "真眞 戶户戸 為爲 国國囯 裏裡"),
    ("han-selectors-a", "葛\U000e0100城市 辻\U000e0101"),
    ("han-selectors-b", "葛城市 辻"),
    ("gb2312-symbols", "①⑴⒈㈠ⅧⅫ ＡＢＣ ａｂｃ αβγΩ ДЖя āáǎàüê ㄅㄆ ひらカタ 中文"),
    ("kana-iteration", "いすゞ バナヽ 学問のすゝめ ゟ ヿ 〱"),
    ("mongolian-selectors", "ᠮᠣᠩᠭᠣᠯ\u180b \u180e ᠪᠢᠴᠢᠭ\u180c"),
    ("mixed-scripts", "abcабвαβγאבגابتअआइกขค한글漢字かなᎠᎡ"),
    ("digits-scripts", "0123 ٠١٢٣ ۰۱۲۳ ०१२३ ๐๑๒๓ ០១២៣ 〇一二三 ०.५"),

    # pictures
    ("emoji", "I ❤ PostgreSQL 🐘🐘🐘 👍 ☺"),
    ("emoji-sequences-a",
     "❤\ufe0f 👍🏽 👩\u200d👩\u200d👧\u200d👦 🇩🇪🇨🇳 1\ufe0f\u20e3 ☺\ufe0e"),
    ("emoji-sequences-b", "❤ 👍 👩👩👧👦 🇩🇪🇨🇳 1 ☺"),
    ("symbols", "→ ⇒ ∀x∈ℝ ∑√∞ ≠ ♠♣ ♩ © ® € ¥ ₿ ░▒▓ ⠃⠗⠇"),

    # words that are hard to end
    ("apostrophes-a", "don't l'homme O'Brien rock 'n' roll 'quoted'"),
    ("apostrophes-b", "don\u2019t l\u2019homme O\u2019Brien rock "
     "\u2019n\u2019 roll \u2018quoted\u2019"),
    ("hyphens", "co-operate co\u2010operate co\u2011operate well\u2013known "
     "a\u2014b e-mail"),
    ("identifiers",
     "snake_case camelCase HTTPServer C++ C# .NET a.b.c x86_64 f(x)"),
    ("addresses",
     "https://www.postgresql.org/docs/18/btree.html?a=1&b=2#x me@example.org"),
    ("markup",
     "<p class=\"a\">bold &amp; <b>brave</b></p> {{x}} `code` **b**"),

    # long runs
    ("long-word", "".join("abcdefghijklmnopqrstuvwxyz"[i * i % 26]
                          for i in range(300))),
    ("long-han", "".join(chr(0x4E00 + i * 67 % 20000) for i in range(300))),
    ("long-repeat", "na " * 500),

    # outside the assigned
    ("private-use", "a\ue000b \uf8ff \U000f0000 \U0010fffd c"),
    ("noncharacters", "a\ufdd0b \uffff \ufffe \U0010ffff c"),
    ("unassigned", "a\u0378b \u2fe0 \U0001f8ff \U000e0fff c"),
    ("replacement", "caf\ufffd na\ufffdve \ufffc"),
    ("unicode-15-16",
     "\U0001e4d0\U0001e4d1 \U00031350 \u1c89\u1c8a \ua7cb\u0264 "
     "\ua7da\ua7db \U00010d50\U00010d70"),
]
