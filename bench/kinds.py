"""
The kinds of texts that judged.py makes, as templates.

A kind has a head: its name; the subject of its prose; the edits that leave a text what
it is; the changes that make it another: entries that get other values, together by +,
or exchange them by =, or "not", a negation put in or out; with & an edit besides.  Then
follow templates, parted by lines of %%.

SPDX-License-Identifier: PostgreSQL
"""

KINDS = r'''
=== job ads | work | PROSE bulleted signed underlined | town role company role+town name salary year not role& town& prose
<company> is looking for a <role> in <town>

{50}

Your tasks
- {9}
- {9}
- {9}

You will report to <name>. We offer <salary> EUR a year and <dd> days of leave. {40} Send your application by <date>.
%%
<role> (f/m/d), <town>

Our client <company> seeks an experienced <role> for its office in <town>. {70} The position <is> limited to two years. {30} Salary: <salary> EUR. Reference <id>.

=== product titles | shop | cased offered punctuated | colour model product company nn model+nn colour=colour2
<company> <model> <product>, <colour>, <nn> cm, with charger and case
%%
<company> <product> <model> for home and office, <colour> with <colour2> lid, pack of <n>, <nn> W
%%
New <company> <colour> <product> <model>, <nnn> g, spare filter included

=== product pages | shop | PROSE bulleted marked_down | model price colour product size nnn price& model& not nn=nn2
<company> <product> <model>

{40}

- Colour: <colour>
- Weight: <nnn> g
- Width: <nn> cm, height: <nn2> cm
- Price: <price> EUR

{60} The <product> <is> suitable for outdoor use. {30}
%%
<product> <model> by <company> in <colour>. {60} It comes in a box of <n> and weighs <nnn> g. {50} Order by <time> and we deliver on the next day. <price> EUR.

=== medical notes | medicine | slips sentence_added wrapped spaced first_line_cased underlined | name drug nnn side unit not date is has drug& date& side& nn=nn2
Patient: <name>
Seen on <date>

{40} The patient <has> been treated with <drug>. Pain in the <side> knee. {40} Blood pressure <nnn> over <nn>. Pulse <nn2>. Plan: <drug2> <nnn2> <unit> twice a day. {20}
%%
<date>. <name>, born <year>. {60} No allergy to <drug> is known. X-ray of the <side> lung <is> normal. {30} Dose of <drug2> raised from <nn> to <nn2> <unit>. Next visit in <n> weeks.

=== legal clauses | law | PROSE | may shall nn name not company=company2 company nn& month is name=name2 may&
{40} The Landlord <may> terminate this agreement on <nn> days of written notice. {40} <name> <shall> be liable for any damage that <name2> causes. {20} This clause takes effect in <month> <year>.
%%
<n>.<n2> <company> <shall> indemnify <company2> against any claim of a third party. {70} The licence <is> transferable. {30} The fee of <nnn> EUR is due within <nn> days.

=== court opinions | law | PROSE paged | name granted date name=name2 nnn not granted& name& date&
{60} The motion of <name> against <name2> was heard on <date>. {90} The motion is <granted>. {60} Costs of <nnn> EUR are borne by <name2>. {40}
%%
<name> v. <name2>, No. <id>

{100} We hold that the appeal is <granted>. {80} Judge <name3> joins. {60}

=== reviews | shop | PROSE emoji synonym | product n not bool is rises company
I bought the <product> in <month> and I have used it every day since. {40} The battery <is> worth its money. {30} <n> of 10 stars.
%%
<company> <product>, <colour>: {60} I would buy it again. The delivery took <n> days. The colour <is> as in the picture. {20}

=== wire copies | news | PROSE synonym | town name nn rises day not date nn& town& day& name=name2 town=town2 prose
<town> (Wire) - {30} <name>, who chairs the committee, said on <day> that the plan <is> final. {60} At least <nn> people were injured. {40} Shares of <company> <rises> by <n> percent. <name2> declined to comment.
%%
<town>, <date> - {40} A train from <town2> to <town3> was stopped for <nn> minutes. {50} <name> <has> accepted the offer, a spokesman said. {40}

=== syndicated pages | news | PROSE marked_down synonym | not name day company town nnn& name& prose
{6}

By <name>

{110} The bridge will be <open> on <day>. {60} The council of <town> pays <nnn> thousand EUR. {40}
%%
Home - News - <town>

{150} <company> <will> build the new factory, said <name>. {50}

=== recipes | food | PROSE bulleted misread | nnn nn size n dish nnn& not nn=nn2 nnn=nnn2
<dish>, serves <n>

- <nnn> g flour
- <nnn2> g butter
- <n2> eggs
- <nn> ml cream

{40} Bake the <dish> for <nn2> minutes. {40} Serve warm.
%%
<name>'s <dish>. {50} Add <nnn> <size> of rice and <n> onions, and let it simmer for <nn> minutes. {30} It <does> freeze well. Keep it for <n2> days.
%%
<dish> of <name>

1. Heat <nn> g of butter and <nnn> g of onions.
2. {10}
3. Bake for <nn2> minutes at <nnn2> degrees.
4. {10}
5. Let it rest for <n> hours; it <does> need salt.

{20}

=== weather | weather | sentence_added sentence_out advertised punctuated cased wrapped first_line_cased | town temp day rises sign nn not temp=temp2 day& town&
<town>, <day>: {30} Highs of <temp> degrees, at night <temp2> degrees. Wind up to <nn> km/h. {20} The temperature <rises> by <day2>.
%%
Forecast for <town> and <town2> on <day>. {60} In <town> <sign><nn> degrees, in <town2> <sign2><nn2> degrees. Risk of frost: <nn3> percent. {20}

=== matches | sport | PROSE | n=n2 n team nn name day team=team2 town not n& name&
<town> <team> - <town2> <team2> <n>:<n2>

{60} <name> scores in minute <nn>. {50} <name2> <is> available for <day>. {30}
%%
{30} <town> <team> beat <town2> <team2> by <n> goals to <n2> on <day>. {50} The goals were by <name> and <name2>. {40} <nnn> spectators came.

=== songs | song | punctuated cased spaced typed first_line_cased quoted | not first town will
{7}
{7}
And I <will> follow you to <town>
{7}
{7}

Oh <first>, oh <first>, come home
Oh <first>, oh <first>, come home

{7}
{7}
But the road to <town> <is> long
{7}
{7}
%%
{8}
{6}
Every <day> in <town> I wait
{6}

<first> <does> know the way
<first> <does> know the way
And <will2> I return

{8}
{6}
{8}
It <is> over, {5}
<first> <does> know the way

=== mails | office | PROSE quoted signed | name id price date time not has granted id& date& name=name2 prose
Dear <name>,

{40} Your order <id> of <date> <has> been shipped. {30} The amount of <price> EUR will be charged to your account. {20}

<company> customer service
%%
Hi <first>,

the meeting about the <product> is moved to <day> at <time> in room <nnn>. {50} <name> <will> join us. {20}

Regards
<name2>

=== tickets | computing | PROSE quoted marked_down | host version name not error host& version& onoff id
Ticket <id>

Reported by <name>. Since version <version> the <package> on <host> stops with <error>. {50} It <does> happen after a restart. {30}
%%
{30} User <name> cannot log in to <host> since <date>. {40} With caching <onoff> the error goes away. {30} Seen with <package> <version>.

=== logs | computing | quoted spaced leader headed | ip host port onoff error+host id nn package granted
<date> <host> <package>: connection from <ip> port <port>
<date> <host> <package>: session <hex> <open> for user <first>
<date> <host> <package>: query took <nnn> ms, <nn> rows
<date> <host> <package>: access <granted> for <first2>
<date> <host> <package>: session <hex> ended
%%
INFO  start <package> <version> on <host>
INFO  listen on <ip>:<port>
WARN  queue <nn> of <nnn> used
WARN  retry <n> of 9 for request <id>
ERROR <error> in <class>.<method>
INFO  feature cache is <onoff>
INFO  stop <package> after <nnn> s
%%
<ip> - <first> [<date>:<time>] "GET /<package>/<method>?id=<id> HTTP/1.1" 200 <nnn>
<ip> - <first> [<date>:<time>] "GET /<package>/style.css HTTP/1.1" 304 <n>
<ip2> - - [<date>:<time2>] "POST /<package>/<method2> HTTP/1.1" <nnn2> <nn>
<ip2> - - [<date>:<time2>] "GET /robots.txt HTTP/1.1" 404 <nn2>
%%
<month> <dd> <time>:07 <host> kernel: usb <n>-<n2>: new device number <nn>
<month> <dd> <time>:07 <host> kernel: usb <n>-<n2>: product: <product>
<month> <dd> <time>:09 <host> <package>[<port>]: started by <first>, cache <onoff>
<month> <dd> <time>:12 <host> <package>[<port>]: login of <first2> <granted>
<month> <dd> <time>:30 <host> <package>[<port>]: {7}

=== traces | computing | quoted indented leader headed | error class method class+method class=class2 error+method
Exception in thread "main" java.lang.<error>: {5}
    at org.shop.<class>.<method>(<class>.java)
    at org.shop.<class2>.<method2>(<class2>.java)
    at org.shop.<class3>.<method>(<class3>.java)
    at org.frame.web.Dispatcher.dispatch(Dispatcher.java)
    at org.frame.web.Filter.doFilter(Filter.java)
    at org.frame.pool.Worker.run(Worker.java)
    at org.frame.net.Acceptor.accept(Acceptor.java)
    at org.frame.Main.main(Main.java)
%%
Traceback (most recent call last):
  File "/srv/<package>/main.py", in start
    self.<method>(request)
  File "/srv/<package>/<class>.py", in <method>
    return <class>(session).<method2>()
  File "/srv/<package2>/base.py", in <method2>
    raise <error>(name)
<error>: {5}
%%
Program received signal SIGSEGV, Segmentation fault.
#0  0x<hex> in <package>_<method> (head=0x0) at <package>.c:<nnn>
#1  0x<hex2> in <package>_<method2> (size=<nn>) at <package>.c:<nnn2>
#2  0x<hex3> in queue_run (queue=0x<hex4>) at queue.c:88
#3  0x00005555 in worker_main () at worker.c:41
#4  0x00005556 in main (argc=1) at main.c:19
{6}
%%
panic: <error> in <package>

goroutine <nn> [running]:
<package>.(*<class>).<method>(...)
    /srv/<package>/<class>.go:<nnn>
<package>.<method2>(0x<hex>)
    /srv/<package>/base.go:<nn2>
net.serve(...)
    /usr/lib/go/net/serve.go:1890
main.main()
    /srv/<package>/main.go:12

=== licences | law | commented wrapped spaced quoted commented commented | may name licence n shall not may&
Copyright <year> <name>

{40} You <may> use, copy and modify this program under the terms of the <licence> licence, version <n>. {60} The name of <company> <shall> be used to promote products. {40}
%%
This file is part of <package>, which is licensed under the <licence> licence, version <n>. {80} Redistribution in binary form <is> permitted. {40} There is no warranty.

=== code in C | computing | braced remarked braced remarked spaced indented | cmp eq op bool nn local cmp& and n=n2 method op& nn&
static int
<method>_<var>(const int *items, int <var>, bool strict)
{
    int sum = <nn>, other = 0, seen = 0;

    for (int i = 0; i <cmp> <var>; i++) {
        if (items[i] <eq> <n> <and> strict) {
            sum = sum <op> items[i];
            seen++;
        }
        else if (items[i] <cmp2> <nnn>) {
            other = <method2>(items[i], <n2>, <bool>);
        }
    }
    return seen <cmp3> 0 ? <local> : items[<n3>];
}
%%
int <method>(struct node *head, int <var>, int <var2>)
{
    struct node *next = head;
    int found = <n>;

    while (next <eq> NULL) {
        if (next->key <cmp> <var> <and> next->open <eq2> <bool>) {
            found = <local2> <op> next->size * <nn>;
        }
        next = next->link;
    }
    if (found <cmp2> <var2>) {
        return <method2>(head, <local>, <nnn>);
    }
    return found;
}
%%
static bool
<method>_ready(struct queue *queue, int <var>)
{
    int seen = 0, other = <n>;

    if (queue->size <cmp> <var> <and> queue->open <eq> <bool>) {
        return <bool2>;
    }
    while (seen <cmp2> queue->size) {
        if (queue->items[seen].key <eq2> <local>) {
            other = other <op> <nn>;
            break;
        }
        seen = seen <op2> 1;
    }
    <method2>(queue, <nnn>);
    return other <cmp3> <n2>;
}
%%
function <method>(rows, <var>) {
    const found = [];
    for (const row of rows) {
        if (row.size <cmp> <var> <and> row.done <eq> <bool>) {
            found.push({ id: row.id, size: row.size <op> <nn> });
        }
    }
    found.sort((a, b) => a.size <op2> b.size);
    return found.length <cmp2> <n> ? <method2>(found, <local>) : null;
}

=== code in Python | computing | remarked_sharp spaced emptied indented | cmp eq op nn local n=n2 method plus n& cmp&
def <method>(items, <var>=<nn>):
    found = []
    for item in sorted(items):
        if item.size <cmp> <var> and item.kind <eq> "<colour>":
            found.append(item.<local> <op> <n>)
        elif item.kind is None:
            break
    return <method2>(found, <nnn>)[:<n2>]
%%
class <class>:
    """{8}"""

    def __init__(self, <var>):
        self.<var> = <var>
        self.items = {}

    def <method>(self, key):
        if len(self.items) <cmp> self.<var> * <nn>:
            self.items.pop(min(self.items))
        return self.items.get(key, <plus>1) <eq> self.<local>
%%
def <method>_all(path, <var>=<nnn>, strict=True):
    total = <n>
    with open(path) as file:
        for number, line in enumerate(file, <n2>):
            fields = line.split(",")
            if len(fields) <cmp> <nn> or fields[0] <eq> "<colour>":
                continue
            total = total <op> int(fields[<n3>])
            if total <cmp2> <var>:
                return <method2>(<local>, number)
    return total

=== code in SQL | computing | keywords spaced remarked_sql emptied | cmp nn op n cmp& town nnn year
SELECT c.name, sum(o.amount) <op> c.discount AS due
FROM orders AS o JOIN customers AS c ON c.id = o.customer
WHERE o.amount <cmp> <nnn> AND c.region = '<town>'
    AND o.day BETWEEN date '<year>-01-01' AND date '<year>-<nn>-01'
GROUP BY c.name, c.discount
HAVING count(*) <cmp2> <n>
ORDER BY due
LIMIT <nn2>;
%%
WITH recent AS (
    SELECT id, town, count(*) AS n, sum(amount <op> fee) AS amount
    FROM visits
    WHERE day > date '<year>-03-01' AND town <> '<town>'
    GROUP BY id, town
)
UPDATE accounts AS a SET level = <n>
FROM recent AS r
WHERE a.id = r.id AND r.n <cmp> <nn> AND r.amount <cmp2> <nnn>
    AND (a.kind = '<colour>' OR a.score BETWEEN <n2> AND <nn2>);

=== Markdown | computing | marked_down marked_down marked_down bulleted underlined quoted linked | version package not onoff nn version&
Installing <package>

{40}

Requirements
- a server of version <n> or later
- {8}
- {8}

Settings
- cache: <onoff>
- workers: <nn>

{60} The module <is> safe to share. {20}
%%
<package> in five minutes

{30}

Install
1. {7}
2. {7}
3. {7}

Options
| option | default |
| --- | --- |
| port | <port> |
| workers | <nn> |
| cache | <onoff> |

{40} Version <version> <is> the last one of this branch.

=== tables | office | retabled retabled headed_table spaced | nn nnn town name nn=nn2 nnn=nnn2 name=name2 price
| name | town | age | amount |
|------|------|-----|--------|
| <name> | <town> | <nn> | <price> |
| <name2> | <town2> | <nn2> | <nnn>.00 |
| <name3> | <town3> | <nn3> | <price2> |
| <name4> | <town> | <nn4> | <nnn2>.50 |
| <name5> | <town4> | <nn5> | <price3> |
%%
| item | price | stock |
|---|---|---|
| <product> | <price> | <nn> |
| <product2> | <price2> | <nn2> |
| <product3> | <price3> | <nn3> |
| <product4> | <price> | <nnn> |
| <name> | <price4> | <nnn2> |
| <name2> | <town> | <nn4> |
| <name3> | <town2> | <nn5> |

=== German letters | German | typed slips wrapped spaced hyphenated quoted plain_german | nicht kein last nn stadt nnn last=last2 dd+monat dd& nicht&
Sehr geehrte Frau <last>,

vielen Dank für Ihr Schreiben vom <dd>. <monat>, das wir heute erhalten haben. Leider können wir Ihnen den gewünschten Termin <nicht> zusagen, weil die zuständige Stelle in <stadt> derzeit umzieht. {30} Bitte schicken Sie uns <kein> Formulare, sondern rufen Sie Herrn <last2> unter der Nummer <id> an. Die Gebühr von <nnn> Euro überweisen Sie bitte innerhalb von vierzehn Tagen. Für Fragen stehen wir Ihnen während der Öffnungszeiten gern zur Verfügung.

Mit freundlichen Grüßen
<name>
%%
Liebe Mieterinnen und Mieter,

am <dd>. <monat> wird in der <n2>. Etage das Wasser abgestellt. Der Aufzug ist an diesem Tag <nicht> in Betrieb, und der Parkplatz im Hof ist <nicht2> gesperrt. Die Firma aus <stadt> beginnt um <n> Uhr. Den Schlüssel geben Sie bitte bei Familie <last> ab, die ihn an Herrn <last2> weiterreicht. Die Kosten von <nnn> Euro trägt die Verwaltung. {50} Wir bitten um Verständnis für die Störung und danken für Ihre Geduld.

Ihre Hausverwaltung

=== German prose | German | typed slips wrapped hyphenated plain_german cased | nicht kein first stadt first=first2 monat nicht& stadt=stadt2
Als <first> im <monat> nach <stadt> zog, hatte sie <kein> Geld und wusste <nicht>, wo sie bleiben sollte. Ihre Tante schrieb ihr aus <stadt2> lange Briefe über das Wetter, die Nachbarn und den kleinen Laden an der Ecke. {60} Abends saß sie am offenen Fenster, hörte den Straßenbahnen zu und dachte an <first2>, der versprochen hatte zu kommen. Der Winter war lang, aber im Frühling fand sie Arbeit in einer Gärtnerei am Rande der Stadt. Dort lernte sie, wie man Rosen schneidet, Erde mischt und mit Kunden spricht, die alles besser wissen.
%%
Der Bahnhof von <stadt> war im <monat> <nicht> geöffnet. {40} Frau <last> wartete auf Herrn <last2>, der aus <stadt2> kommen sollte. {40} Es gab <kein> Briefe mehr, und <first> sprach mit <first2> über die alte Zeit.

=== Chinese | Chinese | chinese_points chinese_wide chinese_spaces chinese_added chinese_wrapped | bu city person dd nn goods person=person2 nn=nn2 bu& city&
各位同事：<city>分公司将于<dd>日召开年度会议，由<person>主持，地点在三楼会议室。公司<bu>批准新的预算方案。{50}请各部门在本周五之前提交工作报告。今年我们的销售额比去年增长了百分之<nn2>，其中<goods>的订单最多，主要来自南方的几个省份。<person2>负责联系供应商，并安排下个月的培训课程。如有任何问题，请及时与人事部联系，谢谢大家的支持与配合。
%%
<person>昨天在<city>买了一部新的<goods>，花了<nnn>元。店员说商品<bu>参加优惠活动，但是可以免费送货上门。他觉得质量很好，颜色也漂亮，就是包装有一点破损。{60}如果七天之内发现质量问题，可以凭发票到门店退换。他打算下周再给母亲买一个，寄到<city2>去，顺便问候一下老朋友<person2>。

=== addresses | office | cased address_short comma_lines punctuated | nn town name nn+town id street name+nn
<name>
<nn> <street> Street
<id> <town>
%%
<company> Ltd, <name>, <nn> <street> Road, flat <n>, <id> <town>, phone <nnn> <id2>
%%
To: <name>, c/o <name2>, <street> Road <nn>, <id> <town>

=== citations | law | cited punctuated cased wrapped | year nn last nnn nn=nn2 last=last2 town topic
<last>, A., <last2>, B. (<year>). On the <topic> and the <topic2>. Journal of <topic3>, <nn>(<n>), <nnn>-<nnn2>.
%%
[<nn>] <name>, <name2>: A study of the <topic> in <town>. Proceedings of the <nn2>th conference, <town2>, <year>, pp. <nnn>-<nnn2>.
%%
<name>: "The <topic> of the <topic2>" (<company>, <town>, <year>), <n>th edition, chapter <nn>, page <nnn>. Cited after <last> and <last2>, volume <nn2>.

=== facts | computing | reworded typed cased greeted_short signed_short punctuated | town port name version day host n not bool last=last2 month
<name> lives in <town> and works for the company <company>
%%
The proxy listens on port <port> of the host <host>
%%
<first> prefers <package> <version> for all new scripts
%%
Releases of <package> are cut from the stable branch on <day>
%%
The retry limit of the mail queue on <host> is <n>
%%
<first> <last> does not want to be called by <first2> <last2> on weekends
%%
<first> turns <nn> in <month> and wants a quiet party in <town>
%%
Deploys to <host> need <n> approvals by the team of <name>
%%
<first> usually orders a <dish> after lunch in <town>
%%
Server <host> runs the nightly import of price lists at <time>
%%
<first> moved to <town> in the spring of <year>
%%
<name> is the owner of the <package> service
%%
The benchmark on <host> took <nnn> seconds in total
%%
The backup of <package> runs every night at <time> on <host>
%%
<first> is allergic to <drug> and to <drug2>
%%
The password of the <package> account is kept by <name>, not by <name2>
%%
Caching is <onoff> in <package> since version <version>
%%
<first> <last> wants answers in short sentences and in <lang>
%%
The team meets every <day> at <time> in room <nnn> of the office in <town>

=== price lists | shop | headed bulleted spaced punctuated_list retabbed | price price=price2 product price& model colour n
Price list of <company>, <month> <year>

- <product> <model>, <colour>: <price> EUR
- <product2> <model2>, <colour2>: <price2> EUR
- <product3> <model3>, <colour3>: <price3> EUR
- <product4> <model4>, <colour4>: <price4> EUR
- <product5> <model5>, <colour>: <price5> EUR

{25} Delivery takes <n> days.
%%
Our prices from <date>

{15}

<product> <model>  <price> EUR
<product2> <model2>  <price2> EUR
<product3> <model3>  <price3> EUR
<product4> <model4>  <price4> EUR
<product> <model5>, pack of <n>  <price5> EUR

=== timetables | travel | headed spaced cased retabbed | time town=town2 time=time2 nn time& day n
Line <nn>, <day> to <day2>, platform <n>

<town>  <time>  <time2>
<town2>  <time3>  <time4>
<town3>  <time5>  <time6>
<town4>  <time7>  <time8>
<town5>  <time9>  every <nn2> minutes

{20}
%%
<month> <year>, line <n>

<day>: <time> <town> - <time2> <town2>
<day2>: <time3> <town> - <time4> <town2>
<day3>: <time5> <town2> - <time6> <town>
<day4>: <time7> <town3> - <time8> <town2>

No service on holidays. {15} Seats in coach <nn2>.

=== READMEs | computing | marked_down badged PROSE bulleted | package version not licence package+version n lang bool prose
<package>

{40} It is written in <lang> and needs version <version> of <package2>.

Usage
- {8}
- {8}

{60} The parser <is> thread-safe. {20} Licence: <licence>.
%%
<package>: {7}

{50}

- licence: <licence>
- needs: <package2> <version>
- ports: <port>

{40} Threads are <onoff>. It <does> read files of <lang>.

=== chat | travel | emoji typed cased punctuated quoted | time not day first town time& nn granted
<first>: hi <first2>, are we still on for <day>?
<first2>: yes, <time> at the station in <town>
<first>: ok, i will bring <nn> tickets
<first2>: {8}
<first>: {10}
<first2>: great, <first3> is coming too
%%
<first>: did you see the note about the <product>? {12}
<first2>: i have seen it. {10}
<first>: then we can meet on <day> at <time>, {8}
%%
<first>: morning! is the <product> <open> today?
<first2>: no idea, {10}
<first>: the guide says from <time> to <time2>
<first3>: {12}
<first2>: then i <will> come, <nn> EUR is fine for me

=== scans | office | misread misread hyphenated hyphenated paged hyphenated misread | name date not nnn town is name=name2 nnn& id
{50} The certificate of <name> was issued in <town> on <date>. {60} A fee of <nnn> EUR <is> due. {40} File <id>, clerk <name2>. {30}
%%
No. <id>

{40} <name>, born <date> at <town>, <is> entitled to the fee. {50} <name2> paid <nnn> EUR on <date2>. {50} Room <n>, floor <n2>.

=== edited prose | news | PROSE PROSE typed slips synonym | not first town
{120} <first> came from <town>. {60}
%%
{40} In <month> <first> left for <town>. {30}

=== counters | machine | spaced headed cased | nn nnn id nn=nn2 nnn& sign n
Station <nn> of <town>, <date> <time>
pressure <nnn> mbar, flow <nn2> l/min, temperature <sign><nn4>.5 degrees
pump <n> on, valve <n2> open, alarm none
operating hours <id>, cycles <id2>, errors <nn3>
%%
page views <nnn>, visits <nn>, orders <n>, returns <n2>, new users <nn2>, bounce rate <nn3> percent, mean time on page <nnn2> s, sales <price> EUR
%%
<date> <time>, meter <id>
heat <nnn> kWh, water <nn>.<n> m3, flow <nn2>.<n2>, return <nn3>.<n3> degrees
outside <sign><nn4>.5 degrees, error code <n>, battery <nn5> percent

=== events | travel | PROSE emoji | town date time name not date& time& month n day price town=town2
{6}

<date>, <time>, town hall of <town>

{60} With <name> and the orchestra of <town2>. {30} Tickets cost <price> EUR, for members <n> EUR. The bar <is> open until midnight.
%%
Guided tour with <name> on <day> at <time>. {70} We meet in front of the station of <town>. {20} Dogs <is> allowed.

=== flats | housing | PROSE bulleted signed | n nn nnn town street nnn& not n=n2 is price prose
Flat in <town>, <street> Street

- <n> rooms, <nn> square metres
- floor <n2>
- rent <nnn> EUR, heating <nn2> EUR

{70} Pets <is> allowed. {40} Free from <month> <year>.
%%
To let: <n> rooms in <town>, <street> Road <nn>. {80} The rent is <nnn> EUR, the deposit <n2> months' rent. {30} A garage is included.

=== manuals | machine | paged paged paged hyphenated marked_down misread sentence_added synonym | not n nn nn=nn2 side open unit n&
<product> <model>, instructions

{50} Turn the <side> lever <n> times before you start. {70} Keep the lid <open> while the motor runs. {60} Fill in <nn> ml of oil, and drain it after <nn2> hours. {90} Never use more than <nnn> <unit> of cleaner. {70}
%%
How to clean the <product> <model>

1. {10}
2. Unplug the <side> cable and wait <n> minutes.
3. {10}
4. Set the switch to <onoff> and the gauge to <nn>.
5. {10}
6. Keep the cover <open> for <nn2> minutes.

{120} The motor <does> need oil. {60}

=== configurations | computing | remarked_sharp spaced emptied quoted_values | port onoff allow host nn ip allow+port onoff=onoff2 bool n=n2
# settings of <package>
listen = <ip>
port = <port>
workers = <nn>
timeout = <n>
retries = <n2>
cache = <onoff>
compression = <onoff2>
log_file = /var/log/<package>.log
default_policy = <allow>
upstream = <host>
%%
server {
    listen <port>;
    server_name <host>.example.org;
    client_max_body_size <nn>m;
    keepalive_timeout <nnn>;
    gzip <onoff>;
    autoindex <onoff2>;
    location /api {
        <allow> <ip>;
        proxy_pass http://<host2>:<port2>;
        proxy_buffering <onoff2>;
    }
}
%%
[<package>]
host=<host>
port=<port>
user=<first>
timeout=<nnn>
retries=<n>

[cache]
enabled=<bool>
size=<nn>
shared=<bool2>
ttl=<n2>

[access]
policy=<allow>
network=<ip>
log=<onoff>

=== claims | claims | PROSE | name id price date granted side not name=name2 date& price& town
Claim <id> of <name>

{50} On <date> the vehicle of <name2> hit the <side> door. {40} The estimate is <price> EUR. {30} The claim is <granted>. {20}
%%
Policy <id>, insured: <name>, <town>. {60} Water came through the ceiling on <date>. {40} The damage <is> covered. We pay <price> EUR to <name2>.

=== spam | shop | greeted signed emoji advertised cased tailed tailed punctuated typed | product company
Congratulations, you have won a <product>! {40} Click here to claim your prize within <nn> hours. {30} <company> will never ask for your password.
%%
Dear friend, I am <name>, a lawyer in <town>. {60} A sum of <nnn> million dollars waits for you. {30} Answer quickly.

=== forms | office | typed spaced wrapped cased headed | name+town name+id town+nn date+name price+nn date+town name+price
Application for a certificate

Name of the applicant: <name>
Place of residence: <town>, <street> Street <nn>
Date of the application: <date>
Number of the file: <id>
Fee: <price> EUR

{90} The applicant has been told that the certificate cannot be replaced, and that the fee is not paid back. {90}
%%
Minutes of the hand-over of a flat

Handed over by <name> to <name2> on <date> at <time>. {60} Meter of the water: <id>. Meter of the gas: <id2>. Keys: <n>. {80} Deposit <price> EUR. Signed in <town>.

=== records | computing | spaced retyped emptied | bool nn id name sign name+id nn=nn2 version
{
    "id": <id>,
    "owner": "<name>",
    "town": "<town>",
    "active": <bool>,
    "balance": <sign><nnn>.5,
    "limits": [<nn>, <nn2>, <nn3>],
    "version": "<version>",
    "tags": ["<colour>", "<colour2>", "<product>"],
    "note": "{25}"
}
%%
- id: <id>
  name: <name>
  town: <town>
  active: <bool>
  limits: {low: <nn>, high: <nn2>, step: <n>}
  offset: <sign><nn3>.25
  version: <version>
  note: {20}
- id: <id2>
  name: <name2>
  town: <town2>
  active: <bool2>

=== release notes | computing | PROSE marked_down bulleted | version package not version& cmp lang date
<package> <version>, released on <date>

- {12}
- {12}
- {12}

{50} Support for <lang> <is> included. Upgrades from <version2> need no restart. {30}
%%
Changes in <package> <version> (<month> <year>)

Fixed
- {10}
- the limit is <nn> again, not <nn2>
Added
- {10}
- {10}
Removed
- support of <lang> and of <package2> before <version2>
'''.strip()
