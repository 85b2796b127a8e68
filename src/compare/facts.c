/*-------------------------------------------------------------------------
 *
 * facts.c
 *		Words that negate, numbers in words, and what stands beside a number: what no edit
 *		may put in or leave out.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#define LISTED_BYTES	64		/* of a word */
#define END_WORDS		8		/* over which a place may slide to an end */

/*
 * Words that negate, of languages with many speakers, between blanks, as they are once
 * folded; "t" is that of "can't", "n" of "n'est".  So do words that halve, and 半, which
 * makes another time of 5点 without a number beside it.
 */
static const char negations[] =
"  not no non never without cannot t nor neither none nothing nowhere unable lacks denies dont doesnt didnt "
" isnt arent wasnt werent wont wouldnt cant couldnt shouldnt hasnt havent hadnt "
" nicht nichts kein keine keinen keiner keinem keines keins keinerlei nirgends nie niemals niemand weder ohne "
" ne n pas jamais sans aucun aucune rien nul nulle ni nunca jamás sin ningún ninguna ninguno nadie "
" nada tampoco senza mai nessun nessuno nessuna niente nulla né "
" não nem sem nenhum nenhuma ninguém niet niets niemand geen nooit zonder inte ej aldrig inga "
" inget utan ikke intet uden uten aldri ingen eivät älä ilman ilma nėra niekada nav "
" nie nigdy nikt nic ani żaden żadna żadne żadnej żadnego żadnych brak bez nem nincs nincsenek sem soha nélkül "
" není nejsou nikdo nikdy žádný žádná žádné žiadny žiadna nije nisu nema nikad nikada "
" не ни нет никогда никто никого никому ничего ничем нечего нельзя отсутствует без ні немає нема ніколи няма нито никога није "
" δεν δε μη μην όχι ούτε \u03c0οτέ χωρίσ không chưa chẳng đừng değil yok hiç hiçbir asla "
" tidak bukan jangan tanpa belum nggak nuk არ nu fără nici niciodată ei לא אין ללא בלי אסור "
" لا لم لن ليس ليست ليسوا لست لسنا بلا غير بدون دون نه نیست نیستند هیچ نہیں "
" नह\u0940ं न मत बिना না নেই নয় 안 못 없이 "
" 없다 없는 없습니다 없음 않다 않는 않습니다 않음 아니다 아닙니다 아닌 नाह\u0940 गैर નથ\u0ac0 ਨਹ\u0a40ਂ இல்லை లేదు కాదు ಅಲ್ಲ അല്ല "
" عدم غیر بغیر بی בלתי אי bất vô tiada deyil emas емес жоқ биш ekki minus минус "
" אינו אינה אינם אינן אינך איננו ಇಲ್ಲ ഇല്ല değildir nein nee nej "
" չի չէ չեն չեմ չկա ոչ առանց wala nid ddim "
" half halbe halben halber halbes demi demie mezzo mezza meia halv halva halvt halve pół půl fél yarım пол половина половину نصف نیم आधा आधे חצי "
" 不 没 沒 未 非 无 無 勿 否 莫 禁 毋 甭 半 ";

/* Two words that negate together: "w/o", and in Japanese, whose kana are words each. */
static const char *const negating_pairs[][2] = {
	{" な ", " い か く け し "}, {" せ ", " ん "}, {" ナ ", " シ "}, {" ノ ", " ン "}, {" 抜 ", " き "},
	{" 请 請 您 你 万 萬 ", " 别 別 "}, {" w ", " o out "}, {" ไ ", " ม "}, {" \u0e40 ", " ป "}
};

/*
 * Words for numbers, but those that are articles or common words of other languages, and
 * those by which a number beside them is multiplied.
 */
static const char numerals[] =
" one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
" sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
" first second third fourth fifth sixth seventh eighth ninth tenth once twice half "
" zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig "
" deux trois quatre cinq sept huit neuf dix onze douze quinze vingt "
" dos tres cuatro cinco seis siete ocho nueve diez dois duas três quatro sete oito nove dez "
" tre quattro cinque sette otto dieci twee vijf zes zeven negen tien två fyra fem sju åtta nio tio "
" dwa dwie trzy cztery pięć pięciu sześć siedem osiem dziewięć dziesięć dva dvě tři čtyři pět šest "
" sedm osm devět deset két három négy öt hét nyolc kilenc tíz kaksi kolme neljä viisi kuusi "
" seitsemän kahdeksan yhdeksän kymmenen iki üç dört beş altı yedi sekiz dokuz "
" два две т\u0440и четы\u0440е пять шесть семь восемь девять десять δύο τρία τρεις \u03c0έντε έξι ε\u03c0τά οκτώ δέκα "
" dua tiga empat lima enam tujuh delapan sembilan hai ba bốn sáu bảy tám chín mười "
" שתי שני שלושה שלוש ארבעה ארבע חמישה חמש שישה שש שבעה שבע שמונה תשעה תשע "
" ثلاثة ثلاث أربعة أربع خمسة خمس ستة سبعة سبع ثمانية تسعة تسع दो त\u0940न चार पाँच पांच छह सात आठ नौ दस "
" 두 세 네 다섯 여섯 일곱 여덟 아홉 \u3007 零 \u4e00 二 两 兩 三 四 五 六 七 八 九 廿 卅 "
" trente quarante cinquante soixante septante nonante vingts cents veinte treinta cuarenta cincuenta sesenta setenta "
" ochenta noventa doscientos doscientas trescientos trescientas cuatrocientos cuatrocientas quinientos quinientas seiscientos "
" setecientos setecientas ochocientos novecientos vinte trinta quarenta cinquenta sessenta oitenta "
" noventa cem cento duzentos trezentos quatrocentos quinhentos duecento trecento quattrocento cinquecento "
" dwadzieścia dwudziestu trzydzieści trzydziestu czterdzieści czterdziestu pięćdziesiąt sześćdziesiąt siedemdziesiąt "
" osiemdziesiąt dziewięćdziesiąt dwieście trzysta czterysta dvacet třicet čtyřicet padesát šedesát "
" sedmdesát osmdesát devadesát dvadsať tridsať dvadeset trideset četrdeset pedeset šezdeset šestdeset "
" otuz kırk elli altmış yetmiş seksen doksan yüz yirmi douăzeci treizeci patruzeci cincizeci șaizeci șaptezeci optzeci nouăzeci sută sute "
" двадцать двадцати т\u0440идцать т\u0440идцати со\u0440ок пятьдесят шестьдесят семьдесят восемьдесят девяносто сто двести т\u0440иста "
" четы\u0440еста пятьсот шестьсот семьсот восемьсот девятьсот двадцять т\u0440идцять шістдесят сімдесят вісімдесят двісті "
" двадесет т\u0440идесет чети\u0440идесет \u043fетдесет шестдесет седемдесет осемдесет деветдесет είκοσι τριάντα σαράντα \u03c0ενήντα εξήντα εβδομήντα ογδόντα ενενήντα εκατόν εκατό "
" mươi puluh belas száz húsz tjugo trettio fyrtio femtio sextio sjuttio åttio nittio tjue tretti "
" بیست سی چهل پنجاه شصت هفتاد هشتاد نود صد مئة مائة عشرون عشرين ثلاثون ثلاثين עשרים שלושים ארבעים חמישים שישים שבעים שמונים תשעים מאה "
" 壹 贰 貳 弐 叁 參 参 肆 伍 陆 陸 柒 捌 玖 ";
static const char multipliers[] =
" hundred thousand million billion trillion tausend million millionen mio milliarde "
" milliarden mrd cent mille million millions milliard milliards ciento cien mil millón "
" millones milione milioni milhão milhões тысяч тысячи миллион миллиона миллионов млн "
" миллиа\u0440д миллиа\u0440дов мл\u0440д bin milyon milyar हज़ार लाख करोड़ ألف مليون مليار 만 억 "
" thousands millions billions dozen bn lakh crore tsd tausende mila millones billones milliers "
" tusen tusind duizend miljon miljoner miljoen miljonit miljoonaa millioner mia miljard miljarder milliarder miljardit "
" tuhat tuhatta tys tysiąc tysiące tysięcy tis tisíc tisíce tisuća tisoč hiljada hiljade mln mld mlrd milion miliony "
" milionów milionů milión milióny miliónov miliona milijun milijuna milijona milijonov miliard miliarde miliardy "
" miliardów milijarda milijarde milijardi milioane mii mie ezer millió milliárd tūkst milijonų miljoni juta ribu miliar "
" nghìn triệu tỷ ming тысяча тыс тисяч тис мільйон мільйони мільйонів мілья\u0440д мілья\u0440дів хил хиляди милион милиона "
" милиони милиа\u0440д хиљада хиљаде χιλιάδες εκατ εκατομμύριο εκατομμύρια δισ δισεκατομμύρια אלף מיליון מיליארד "
" آلاف ملايين هزار میلیون میلیارد ہزار لاکھ کروڑ ارب हजार अरब হাজার লাখ কোটি ਲੱਖ ਕਰੋੜ લાખ કરોડ லட்சம் கோடி లక్షల కోట్ల "
" 十 百 千 万 萬 亿 億 兆 拾 佰 仟 ";

/* Is a word one of a list, in which each is between blanks? */
static bool
is_listed(const SimhashWords *words, uint32 i, const char *list)
{
	char		word[LISTED_BYTES];
	Size		length = words->list[i].length;

	if (words->list[i].kind != SIMHASH_WORD || length > sizeof word - 3)
		return false;
	word[0] = ' ';
	memcpy(word + 1, words->forms + words->list[i].start, length);
	strcpy(word + 1 + length, " ");
	return strstr(list, word) != NULL;
}

/* How many words of a place are of a list? */
static uint32
count_listed(const SimhashWords *words, uint32 from, uint32 n, const char *list)
{
	uint32		count = 0;

	for (uint32 i = from; i < from + n; i++)
		count += is_listed(words, i, list);
	return count;
}

/* How many words of a place negate, or do with the one before or behind the place? */
uint32
simhash_count_negations(const SimhashWords *words, uint32 from, uint32 n)
{
	uint32		count = count_listed(words, from, n, negations);

	for (uint32 i = from - (from > 0); i < from + n && i + 1 < words->n; i++)
	{
		for (size_t k = 0; k < lengthof(negating_pairs); k++)
			count += is_listed(words, i, negating_pairs[k][0]) && is_listed(words, i + 1, negating_pairs[k][1]);
	}
	return count;
}

/* Do words stand at an end, or as well there, as of the words beside them some are the same? */
static bool
are_at_end(const SimhashWords *words, uint32 from, uint32 n)
{
	const SimhashWord *list = words->list;
	uint32		behind = words->n - from - n;
	uint32		before = 0;

	if (from <= END_WORDS)
	{
		while (before < from && list[before].hash == list[before + n].hash)
			before++;
		if (before == from)
			return true;
	}
	while (behind <= END_WORDS && behind > 0 && list[words->n - behind].hash == list[words->n - behind - n].hash)
		behind--;
	return behind == 0;
}

/*
 * May words that are put in make another number of a word beside them, or another unit:
 * "minus 5", "5 million", 5美元?  In whatever language, so within a text all that stands
 * beside a number does; at the ends, where greetings and sources stand, numbers and what
 * multiplies them.  However many they are: one more must not hide another.  Of "½", as of
 * an exponent, the digits have a sign before them, behind which "1½" goes on.
 */
bool
simhash_change_number(const SimhashWords *words, uint32 from, uint32 n, uint32 beside)
{
	if (beside > from && beside + 1 < words->n && words->list[beside].kind == SIMHASH_SIGN)
		beside++;
	if (words->list[beside].kind == SIMHASH_NUMBER)
		return !are_at_end(words, from, n) ||
			(words->list[beside < from ? from : from + n - 1].kind & (SIMHASH_WORD | SIMHASH_SOFT)) == 0 ||
			count_listed(words, from, n, multipliers) > 0;
	return simhash_is_number_word(words, beside) &&
		(!are_at_end(words, from, n) ||
		 count_listed(words, from, n, multipliers) + count_listed(words, from, n, numerals) > 0);
}

/* How many words of a place are numbers in words? */
uint32
simhash_count_numerals(const SimhashWords *words, uint32 from, uint32 n)
{
	return count_listed(words, from, n, numerals);
}

/* Is a word a number in words, or one that multiplies a number? */
bool
simhash_is_number_word(const SimhashWords *words, uint32 at)
{
	return is_listed(words, at, numerals) || is_listed(words, at, multipliers);
}
