# ActiveRecord, as docs/clients.md says: migrates, finds, is refused, saves a stale object.
# needs ruby-activerecord ruby-pg: ruby -e 'require "active_record"; require "pg"'
# prints
#   migrated: hamming memories_guard
#   found: 1 at 0 bits
#   put: 1 new, 1 known, 3 new
#   created: ActiveRecord::RecordNotUnique 23505 memories_pkey
#   updated: ActiveRecord::StatementInvalid 23P01 memories_guard
#   left out: saved, id nil; again: true, id nil, 1 row
#   stale: THE FERRY, cluster 1
# SPDX-License-Identifier: PostgreSQL

require 'active_record'

FERRY = 'The ferry to Oslo leaves at nine from the old harbour.'
AGAIN = 'THE FERRY to Oslo leaves at nine, from the old harbour!'
MUSEUM = 'The museum is closed on Mondays and on Tuesdays.'

ActiveRecord::Base.establish_connection(adapter: 'postgresql')
ActiveRecord::Migration.verbose = false
SQL = ActiveRecord::Base.connection

class CreateAll < ActiveRecord::Migration[6.1]
  def up
    enable_extension :simhash
    %w[memories drafts news].each do |table|
      create_table(table) { |t| t.text :body, null: false }
      execute "ALTER TABLE #{table} ADD fp bigint
               GENERATED ALWAYS AS (minhash(body)) STORED"
      add_index table, :fp, using: :hamming, name: "#{table}_fp"
    end
    add_column :memories, :seen, :integer, null: false, default: 1
    add_column :news, :note, :text
    { memories: 'conflict', drafts: 'skip' }.each do |table, action|
      execute "CREATE TRIGGER #{table}_guard BEFORE INSERT OR UPDATE ON #{table}
               FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '#{action}', '8')"
    end
  end
end

# A procedure with transactions of its own.
class AddClusters < ActiveRecord::Migration[6.1]
  disable_ddl_transaction!

  def up
    execute "CALL simhash_add_clusters('news', 'fp', 8)"
  end
end

class Memory < ActiveRecord::Base; end
class Draft < ActiveRecord::Base; end

class News < ActiveRecord::Base
  attr_readonly :cluster
end

def refused
  yield
rescue ActiveRecord::StatementInvalid => e
  result = e.cause.result
  [e.class, result.error_field(PG::PG_DIAG_SQLSTATE),
   result.error_field(PG::PG_DIAG_CONSTRAINT_NAME)].join(' ')
end

[CreateAll, AddClusters].each { |migration| migration.migrate(:up) }
puts 'migrated: ' + SQL.select_rows("
  SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
  WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'").join(' ')

put = 'INSERT INTO memories (body) VALUES (?)
       ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
       RETURNING *, seen = 1 AS is_new'
answers = [FERRY, AGAIN, MUSEUM].map do |body|
  memory = Memory.find_by_sql([put, body]).first
  "#{memory.id} #{memory.is_new ? 'new' : 'known'}"
end

near = Memory.where('fp <@ (minhash(?), ?)', AGAIN, 8)
             .select(:id, Memory.sanitize_sql(['fp <~> minhash(?) AS bits', AGAIN]))
puts near.map { |row| "found: #{row.id} at #{row.bits} bits" }
puts 'put: ' + answers.join(', ')
puts 'created: ' + refused { Memory.create!(body: AGAIN) }
puts 'updated: ' + refused { Memory.find(3).update!(body: AGAIN) }

Draft.create!(body: FERRY)
draft = Draft.create!(body: AGAIN)
print "left out: #{draft.persisted? ? 'saved' : 'not saved'}, id #{draft.id.inspect}"
draft.body = MUSEUM
puts "; again: #{draft.save}, id #{draft.id.inspect}, #{Draft.count} row"

News.create!([{ body: FERRY }, { body: MUSEUM }])
stale = News.find(2)
SQL.execute("UPDATE news SET body = #{SQL.quote(AGAIN)} WHERE id = 2")
stale.update!(note: 'seen')
puts 'stale: ' + SQL.select_value("
  SELECT concat(substring(body, '^\\w+ \\w+'), ', cluster ', cluster,
                CASE WHEN fp <> minhash(body) THEN ', another fp' END)
  FROM news WHERE id = 2")
