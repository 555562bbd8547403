package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/kobo-waas/kobo/internal/db/migration"
)

// A database that divides its tables (nodes) has two kinds of tables. A tenant table is divided by
// company_id, and all tenant tables in the same way, so a node holds all rows of a company. Each other
// table has a copy on each node, and so has the table of goose.
//
// A table that is neither is local. It lies on one node, and a commit of a company elsewhere does not
// include it: the money could move without its job. So no migration may leave a local table behind.

// tenantSQL tells whether the table c is a tenant table: whether its primary key begins with company_id.
const tenantSQL = `EXISTS (SELECT FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
	WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'company_id')`

// oursSQL selects the tables c of the schema.
const oursSQL = `FROM pg_class AS c LEFT JOIN pg_dist_partition AS d ON d.logicalrelid = c.oid
	WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')`

// localSQL selects the next local table to divide or to copy. Its foreign keys lead to tables that are
// not local any more.
const localSQL = `SELECT quote_ident(c.relname) AS name, ` + tenantSQL + ` AS tenant ` + oursSQL + ` AND d.logicalrelid IS NULL
		AND NOT EXISTS (SELECT FROM pg_constraint AS f LEFT JOIN pg_dist_partition AS o ON o.logicalrelid = f.confrelid
			WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid AND o.logicalrelid IS NULL)
	ORDER BY tenant, name LIMIT 1`

// anchorSQL selects a table that is divided by company_id. The others are divided in the same way, also
// after a company has got a shard of its own.
const anchorSQL = `SELECT logicalrelid::text FROM pg_dist_partition WHERE partmethod = 'h' ORDER BY logicalrelid::text LIMIT 1`

// distributeSQL divides or copies all local tables, in the transaction of a migration.
const distributeSQL = `DO $kobo$ DECLARE next record; BEGIN
	LOOP
		SELECT INTO next * FROM (` + localSQL + `) AS l;
		EXIT WHEN NOT FOUND;
		IF next.tenant THEN
			PERFORM create_distributed_table(next.name::regclass, 'company_id', colocate_with := coalesce((` + anchorSQL + `), 'none'));
		ELSE
			PERFORM create_reference_table(next.name::regclass);
		END IF;
	END LOOP;
END $kobo$;`

// sequentialSQL lets one transaction change several tables that refer to each other.
const sequentialSQL = `SET LOCAL citus.multi_shard_modify_mode TO 'sequential';`

// misplacedSQL selects the tables that are not where they belong, with what is wrong.
const misplacedSQL = `SELECT name || ' ' || wrong FROM (SELECT c.relname::text AS name, CASE
		WHEN d.logicalrelid IS NULL THEN 'is on one node only'
		WHEN NOT ` + tenantSQL + ` THEN CASE WHEN d.partmethod = 'n' AND d.repmodel = 't' THEN '' ELSE 'belongs to no company, and has no copy on each node' END
		WHEN d.partmethod <> 'h' THEN 'is not divided, although its key begins with company_id'
		WHEN column_to_column_name(d.logicalrelid, d.partkey) <> 'company_id' THEN 'is divided by another column than company_id'
		WHEN d.colocationid <> (SELECT colocationid FROM pg_dist_partition WHERE logicalrelid = to_regclass('ledger_head'))
			THEN 'is divided in another way than ledger_head, so a company has rows on two nodes'
		ELSE '' END AS wrong ` + oursSQL + `) AS t WHERE wrong <> '' ORDER BY 1`

// coordinatorSQL tells whether this node may change the schema.
const coordinatorSQL = `SELECT groupid = 0 FROM pg_dist_local_group`

// hasDividedSQL tells whether the schema is divided.
const hasDividedSQL = `SELECT count(*) > 0 FROM pg_dist_partition WHERE logicalrelid = to_regclass('ledger_head')`

var errNotCoordinator = errors.New("db: the URL leads to a worker of Citus: only its coordinator changes the schema")

// divided returns the engine if the database divides its tables. It asks the database if that is not
// known yet.
func (d *DB) divided(ctx context.Context) (*postgres, error) {
	p, ok := d.engine.(*postgres)
	if !ok {
		return nil, nil
	}
	if !p.nodes.known.Load() {
		if err := p.pool.Ping(ctx); err != nil {
			return nil, err
		}
	}
	if !p.nodes.divided.Load() {
		return nil, nil
	}
	return p, nil
}

// Misplaced returns the tables that are not where they belong, with what is wrong. It returns nothing for a
// database that does not divide its tables.
func (d *DB) Misplaced(ctx context.Context) ([]string, error) {
	p, err := d.divided(ctx)
	if p == nil || err != nil {
		return nil, explain(err)
	}
	return All(ctx, d, Value[string], misplacedSQL)
}

// distribute divides or copies the tables that are local, each in a transaction of its own. Then it returns
// an error if a table is not where it belongs.
func (d *DB) distribute(ctx context.Context) error {
	p, err := d.divided(ctx)
	if p == nil || err != nil {
		return err
	}
	type local struct {
		name   string
		tenant bool
	}
	for {
		next, err := OrZero(One(ctx, d, func(s Scanner) (l local, err error) { return l, s.Scan(&l.name, &l.tenant) }, localSQL))
		if err != nil {
			return err
		}
		if next.name == "" {
			break
		}
		place := `SELECT create_reference_table($1::text::regclass)`
		if next.tenant {
			place = `SELECT create_distributed_table($1::text::regclass, 'company_id', colocate_with := coalesce((` + anchorSQL + `), 'none'))`
		}
		if _, err := d.Exec(ctx, place, next.name); err != nil {
			return fmt.Errorf("%s: %w", next.name, err)
		}
	}
	p.lookOnce()
	return d.placed(ctx)
}

// placed returns an error if a table is not where it belongs.
func (d *DB) placed(ctx context.Context) error {
	wrong, err := d.Misplaced(ctx)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("tables are not where they belong on the nodes of Citus:\n%s\n(kobo migrate places tables that are on one node only)", strings.Join(wrong, "\n"))
	}
	return err
}

// migrations returns the files of the migrations for PostgreSQL. While no table is divided yet, a new
// database is made by the usual files, and distribute divides it at the end.
func (d *DB) migrations(ctx context.Context) (fs.FS, error) {
	p, err := d.divided(ctx)
	if p == nil || err != nil {
		return migration.Files, err
	}
	first, err := One(ctx, d, Value[bool], coordinatorSQL)
	if err == nil && !first {
		err = errNotCoordinator
	}
	if err != nil {
		return nil, err
	}
	begun, err := One(ctx, d, Value[bool], hasDividedSQL)
	if begun {
		return dividedMigrations{migration.Files}, err
	}
	return migration.Files, err
}

// dividedMigrations provides the migrations in the form for a database that divides its tables. Each
// migration also divides or copies the tables that it makes, in the same transaction.
type dividedMigrations struct{ fs.FS }

// Open opens a file or folder. It adds the SQL statements that place the tables to a migration file.
func (m dividedMigrations) Open(name string) (fs.File, error) {
	file, err := m.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return changedMigration{file, bytes.NewReader([]byte(placing(string(text))))}, nil
}

const (
	gooseUp   = "-- +goose Up\n"
	gooseDown = "-- +goose Down\n"
)

// placing adds the SQL statements that place the tables to the text of a migration.
func placing(text string) string {
	up, down, undoes := strings.Cut(text, gooseDown)
	up = strings.Replace(up, gooseUp, gooseUp+sequentialSQL+"\n", 1) +
		"\n-- +goose StatementBegin\n" + distributeSQL + "\n-- +goose StatementEnd\n"
	if undoes {
		up += gooseDown + sequentialSQL + "\n" + down
	}
	return up
}
