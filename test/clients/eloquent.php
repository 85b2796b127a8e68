<?php
// Eloquent, as docs/clients.md says: migrates, finds, is refused, saves a stale object.
// needs php-illuminate-database php-illuminate-events php-pgsql: php -m | grep pdo_pgsql && test -d /usr/share/php/Illuminate/Database
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: QueryException 23505
//   updated: QueryException 23P01
//   left out: ErrorException
//   stale: THE FERRY, cluster 1
// SPDX-License-Identifier: PostgreSQL

error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
set_error_handler(function ($level, $message) {         // as Laravel does
    if (error_reporting() & $level) {
        throw new ErrorException($message);
    }
});
foreach (['Database', 'Events'] as $part) {
    require_once "/usr/share/php/Illuminate/$part/autoload.php";
}

use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\QueryException;
use Illuminate\Database\Schema\Blueprint;

const FERRY = 'The ferry to Oslo leaves at nine from the old harbour.';
const AGAIN = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const MUSEUM = 'The museum is closed on Mondays and on Tuesdays.';

class Memory extends Model
{
    public $timestamps = false;
    protected $guarded = ['fp'];
}

class Draft extends Memory {}

class News extends Memory
{
    protected $table = 'news';
    protected $guarded = ['fp', 'cluster'];
}

function refused($work)
{
    try {
        $work();
    } catch (QueryException | ErrorException $e) {
        return rtrim((new ReflectionClass($e))->getShortName() . ' ' .
            ($e->getCode() ?: ''));
    }
}

$manager = new Manager();
$manager->addConnection(['driver' => 'pgsql', 'host' => getenv('PGHOST'),
    'port' => getenv('PGPORT'), 'database' => getenv('PGDATABASE'),
    'username' => getenv('PGUSER'), 'password' => '', 'charset' => 'utf8']);
$manager->setAsGlobal();
$manager->bootEloquent();
$sql = $manager->getConnection();

$sql->statement('CREATE EXTENSION simhash');
foreach (['memories', 'drafts', 'news'] as $name) {
    $sql->getSchemaBuilder()->create($name, function (Blueprint $table) use ($name) {
        $table->id();
        $table->text('body');
        $table->integer('seen')->default(1);
        $table->text('note')->nullable();
        $table->bigInteger('fp')->nullable()->storedAs('minhash(body)');
        $table->index('fp', "{$name}_fp", 'hamming');
    });
}
foreach (['memories' => 'conflict', 'drafts' => 'skip'] as $name => $action) {
    $sql->statement("CREATE TRIGGER {$name}_guard BEFORE INSERT OR UPDATE ON $name
        FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '$action', '8')");
}
$sql->unprepared("CALL simhash_add_clusters('news', 'fp', 8)");
$migrated = $sql->selectOne("
    SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
    WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'");
echo "migrated: $migrated->amname $migrated->tgname\n";

$put = 'INSERT INTO memories (body) VALUES (?)
        ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
        RETURNING *, seen = 1 AS is_new';
$answers = array_map(function ($body) use ($put) {
    $memory = Memory::fromQuery($put, [$body])[0];
    return $memory->id . ($memory->is_new ? ' new' : ' known');
}, [FERRY, AGAIN, MUSEUM]);

foreach (Memory::whereRaw('fp <@ (minhash(?), ?)', [AGAIN, 8])->select('id')
    ->selectRaw('fp <~> minhash(?) AS bits', [AGAIN])->get() as $near) {
    echo "found: $near->id at $near->bits bits\n";
}
echo 'put: ', implode(', ', $answers), "\n";
echo 'created: ', refused(fn () => Memory::create(['body' => AGAIN])), "\n";
echo 'updated: ', refused(fn () => Memory::find(3)->update(['body' => AGAIN])), "\n";

Draft::create(['body' => FERRY]);
echo 'left out: ', refused(fn () => Draft::create(['body' => AGAIN])), "\n";

News::create(['body' => FERRY]);
News::create(['body' => MUSEUM]);
$stale = News::find(2);
$sql->update('UPDATE news SET body = ? WHERE id = 2', [AGAIN]);
$stale->update(['note' => 'seen']);
echo 'stale: ', $sql->selectOne("
    SELECT concat(substring(body, '^\w+ \w+'), ', cluster ', cluster,
                  CASE WHEN fp <> minhash(body) THEN ', another fp' END) AS text
    FROM news WHERE id = 2")->text, "\n";
