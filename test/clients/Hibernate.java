// Hibernate 3.6, with classes of 2012, as docs/clients.md says: migrates, finds, is refused, saves a stale object.
// needs libhibernate3-java libjavassist-java libslf4j-java libpostgresql-jdbc-java and a JDK: test -f /usr/share/java/hibernate3.jar -a -f /usr/share/java/javassist.jar -a -f /usr/share/java/postgresql.jar && javac -version
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: ConstraintViolationException 23505 memories_pkey
//   updated: ConstraintViolationException 23P01 memories_guard
//   left out: saved 2; again: StaleStateException
//   stale: The museum, cluster 2
// SPDX-License-Identifier: PostgreSQL

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.persistence.*;
import org.hibernate.HibernateException;
import org.hibernate.JDBCException;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.Generated;
import org.hibernate.annotations.GenerationTime;
import org.hibernate.cfg.Configuration;
import org.hibernate.tool.hbm2ddl.SchemaUpdate;
import org.postgresql.util.PSQLException;

class Hibernate {
    static final String FERRY = "The ferry to Oslo leaves at nine from the old harbour.";
    static final String AGAIN = "THE FERRY to Oslo leaves at nine, from the old harbour!";
    static final String MUSEUM = "The museum is closed on Mondays and on Tuesdays.";

    @MappedSuperclass
    public static class Text {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Long id;
        @Column(columnDefinition = "text") public String body;

        // What the server fills.
        @Generated(GenerationTime.ALWAYS)
        @Column(insertable = false, updatable = false,
            columnDefinition = "bigint GENERATED ALWAYS AS (minhash(body)) STORED")
        public Long fp;
    }

    @Entity @Table(name = "memories")
    public static class Memory extends Text {
        public int seen = 1;
    }

    @Entity @Table(name = "drafts")
    public static class Draft {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Long id;
        @Column(columnDefinition = "text") public String body;
    }

    @Entity @Table(name = "news")
    public static class News extends Text {
        public String note;
        @Generated(GenerationTime.ALWAYS) @Column(insertable = false, updatable = false)
        public Long cluster;
    }

    interface Work { Object in(Session session) throws Exception; }

    static SessionFactory sessions;
    static Connection sql;

    static Object run(Work work) throws Exception {
        Session session = sessions.openSession();
        try {
            session.beginTransaction();
            Object result = work.in(session);
            session.getTransaction().commit();
            return result;
        } catch (HibernateException e) {
            session.getTransaction().rollback();
            throw e;
        } finally {
            session.close();
        }
    }

    static String refused(Work work) throws Exception {
        try {
            return "saved " + run(work);
        } catch (JDBCException e) {
            SQLException cause = e.getSQLException();
            if (cause.getNextException() != null)       // that of a batch
                cause = cause.getNextException();
            return e.getClass().getSimpleName() + " " + cause.getSQLState() + " "
                + ((PSQLException) cause).getServerErrorMessage().getConstraint();
        } catch (HibernateException e) {
            return e.getClass().getSimpleName();
        }
    }

    static String query(String query, String... values) throws SQLException {
        PreparedStatement statement = sql.prepareStatement(query);
        for (int i = 0; i < values.length; i++)
            statement.setString(i + 1, values[i]);
        if (!statement.execute())
            return null;
        ResultSet row = statement.getResultSet();
        row.next();
        return row.getString(1);
    }

    static void guard(String table, String action) throws SQLException {
        query("CREATE INDEX " + table + "_fp ON " + table + " USING hamming (fp)");
        query("CREATE TRIGGER " + table + "_guard BEFORE INSERT OR UPDATE ON " + table
            + " FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '" + action + "', '8')");
    }

    // The column cluster is here already, so it is adopted.
    static void migrate(Configuration configuration) throws SQLException {
        query("CREATE EXTENSION simhash");
        new SchemaUpdate(configuration).execute(false, true);
        query("ALTER TABLE drafts ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED");
        guard("memories", "conflict");
        guard("drafts", "skip");
        query("CALL simhash_add_clusters('news', 'fp', 8, adopt => true)");
        new SchemaUpdate(configuration).execute(false, true);
        System.out.println("migrated: " + query(
            "SELECT concat(amname, ' ', tgname)"
            + " FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam"
            + " WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'"));
    }

    static Object save(Session session, Text text, String body) {
        text.body = body;
        return session.save(text);
    }

    static String put(String body) throws Exception {
        Object[] row = (Object[]) run(session -> session.createSQLQuery(
            "INSERT INTO memories (body, seen) VALUES (:body, 1)"
            + " ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1"
            + " RETURNING id, seen = 1 AS is_new").setString("body", body).uniqueResult());
        return row[0] + ((Boolean) row[1] ? " new" : " known");
    }

    static void guarded() throws Exception {
        String answers = put(FERRY) + ", " + put(AGAIN) + ", " + put(MUSEUM);

        Object[] near = (Object[]) run(session -> session.createSQLQuery(
            "SELECT id, fp <~> minhash(:text) AS bits FROM memories"
            + " WHERE fp <@ (minhash(:text), :k)")
            .setString("text", AGAIN).setInteger("k", 8).uniqueResult());
        System.out.println("found: " + near[0] + " at " + near[1] + " bits");
        System.out.println("put: " + answers);
        System.out.println("created: "
            + refused(session -> save(session, new Memory(), AGAIN)));
        System.out.println("updated: "
            + refused(session -> ((Memory) session.get(Memory.class, 3L)).body = AGAIN));
    }

    static void leftOut() throws Exception {
        Draft draft = new Draft();
        query("INSERT INTO drafts (body) VALUES (?)", FERRY);
        draft.body = AGAIN;
        System.out.print("left out: " + refused(session -> session.save(draft)));
        System.out.println("; again: " + refused(session -> {
            session.update(draft);
            return null;
        }));
    }

    static void stale() throws Exception {
        run(session -> save(session, new News(), FERRY));
        run(session -> save(session, new News(), MUSEUM));
        run(session -> {
            News stale = (News) session.get(News.class, 2L);
            query("UPDATE news SET body = ? WHERE id = 2", AGAIN);
            return stale.note = "seen";
        });
        System.out.println("stale: " + query(
            "SELECT concat(substring(body, '^\\w+ \\w+'), ', cluster ', cluster,"
            + " CASE WHEN fp <> minhash(body) THEN ', another fp' END)"
            + " FROM news WHERE id = 2"));
    }

    public static void main(String[] arguments) throws Exception {
        Thread.currentThread().setContextClassLoader(Hibernate.class.getClassLoader());
        Configuration configuration = new Configuration()
            .setProperty("hibernate.connection.url", System.getenv("JDBC_URL"))
            .setProperty("hibernate.dialect", "org.hibernate.dialect.PostgreSQLDialect")
            .setProperty("hibernate.temp.use_jdbc_metadata_defaults", "false")
            .addAnnotatedClass(Memory.class)
            .addAnnotatedClass(Draft.class)
            .addAnnotatedClass(News.class);
        sql = DriverManager.getConnection(System.getenv("JDBC_URL"));
        migrate(configuration);
        sessions = configuration.buildSessionFactory();
        guarded();
        leftOut();
        stale();
    }
}
