<?php
// Doctrine, as docs/clients.md says: migrates, finds, is refused, saves a stale object.
// needs php-doctrine-orm php-pgsql: php -m | grep pdo_pgsql && test -d /usr/share/php/Doctrine/ORM
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: UniqueConstraintViolationException 23505
//   updated: DriverException 23P01
//   left out: saved, id 2; again: saved, 1 row
//   stale: THE FERRY, cluster 1
// SPDX-License-Identifier: PostgreSQL

error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
foreach (['DBAL', 'ORM'] as $part) {
    require_once "/usr/share/php/Doctrine/$part/autoload.php";
}

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception\DriverException;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Tools\SchemaTool;

const FERRY = 'The ferry to Oslo leaves at nine from the old harbour.';
const AGAIN = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const MUSEUM = 'The museum is closed on Mondays and on Tuesdays.';

#[ORM\MappedSuperclass]
abstract class WithFp
{
    #[ORM\Column(type: 'bigint', nullable: true, insertable: false, updatable: false,
        generated: 'ALWAYS',
        columnDefinition: 'bigint GENERATED ALWAYS AS (minhash(body)) STORED')]
    public $fp;

    public function __construct(#[ORM\Column(type: 'text')] public $body) {}
}

#[ORM\Entity, ORM\Table(name: 'memories')]
class Memory extends WithFp
{
    #[ORM\Id, ORM\Column(type: 'bigint'), ORM\GeneratedValue(strategy: 'IDENTITY')]
    public $id;
    #[ORM\Column(type: 'integer', options: ['default' => 1])]
    public $seen = 1;
}

// IDENTITY asks for the last number of any sequence, here that of a cluster.
#[ORM\Entity, ORM\Table(name: 'news')]
class News extends WithFp
{
    #[ORM\Id, ORM\Column(type: 'bigint'), ORM\GeneratedValue(strategy: 'SEQUENCE')]
    public $id;
    #[ORM\Column(type: 'text', nullable: true)]
    public $note;
}

// If its fp were mapped, saving a row that is left out would be an error.
#[ORM\Entity, ORM\Table(name: 'drafts')]
class Draft
{
    #[ORM\Id, ORM\Column(type: 'bigint'), ORM\GeneratedValue(strategy: 'IDENTITY')]
    public $id;

    public function __construct(#[ORM\Column(type: 'text')] public $body) {}
}

$sql = DriverManager::getConnection(['driver' => 'pdo_pgsql',
    'user' => getenv('PGUSER'), 'dbname' => getenv('PGDATABASE')]);
$config = new Configuration();
$config->setMetadataDriverImpl(new AttributeDriver([__DIR__]));
$config->setProxyDir(sys_get_temp_dir());
$config->setProxyNamespace('Proxies');
if (PHP_VERSION_ID >= 80400 && method_exists($config, 'enableNativeLazyObjects')) {
    $config->enableNativeLazyObjects(true);
}

function manager()
{
    global $sql, $config;
    return method_exists(EntityManager::class, 'create')
        ? EntityManager::create($sql, $config) : new EntityManager($sql, $config);
}

function save(...$objects)
{
    $manager = manager();
    array_map([$manager, 'persist'], $objects);
    $manager->flush();
    return $manager;
}

function refused($work)
{
    try {
        $work();
    } catch (DriverException $e) {
        return (new ReflectionClass($e))->getShortName() . ' ' . $e->getSQLState();
    }
}

$sql->executeStatement('CREATE EXTENSION simhash');
$manager = manager();
(new SchemaTool($manager))->createSchema(
    array_map([$manager, 'getClassMetadata'], [Memory::class, Draft::class, News::class]));
$sql->executeStatement('ALTER TABLE drafts
    ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED');
foreach (['memories' => 'conflict', 'drafts' => 'skip'] as $table => $action) {
    $sql->executeStatement("CREATE INDEX {$table}_fp ON $table USING hamming (fp)");
    $sql->executeStatement("CREATE TRIGGER {$table}_guard BEFORE INSERT OR UPDATE ON $table
        FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '$action', '8')");
}
$sql->executeStatement("CALL simhash_add_clusters('news', 'fp', 8)");
echo 'migrated: ', implode(' ', $sql->fetchNumeric("
    SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
    WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'")), "\n";

$put = 'INSERT INTO memories (body) VALUES (?)
        ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
        RETURNING id, seen = 1 AS is_new';
$answers = array_map(function ($body) use ($sql, $put) {
    $row = $sql->fetchAssociative($put, [$body]);
    return $row['id'] . ($row['is_new'] ? ' new' : ' known');
}, [FERRY, AGAIN, MUSEUM]);

foreach ($sql->fetchAllAssociative('
    SELECT id, fp <~> minhash(:text) AS bits FROM memories
    WHERE fp <@ (minhash(:text), :k)', ['text' => AGAIN, 'k' => 8]) as $row) {
    echo "found: $row[id] at $row[bits] bits\n";
}
echo 'put: ', implode(', ', $answers), "\n";
echo 'created: ', refused(fn () => save(new Memory(AGAIN))), "\n";
echo 'updated: ', refused(function () {
    $manager = manager();
    $manager->find(Memory::class, 3)->body = AGAIN;
    $manager->flush();
}), "\n";

save(new Draft(FERRY));
$manager = save($draft = new Draft(AGAIN));
echo "left out: saved, id $draft->id";
$draft->body = MUSEUM;
$manager->flush();
echo '; again: saved, ', $sql->fetchOne('SELECT count(*) FROM drafts'), " row\n";

save(new News(FERRY), new News(MUSEUM));
$manager = manager();
$stale = $manager->find(News::class, 2);
$sql->executeStatement('UPDATE news SET body = ? WHERE id = 2', [AGAIN]);
$stale->note = 'seen';
$manager->flush();
echo 'stale: ', $sql->fetchOne("
    SELECT concat(substring(body, '^\w+ \w+'), ', cluster ', cluster,
                  CASE WHEN fp <> minhash(body) THEN ', another fp' END)
    FROM news WHERE id = 2"), "\n";
