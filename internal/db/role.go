package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Roles are the roles of PostgreSQL to which Grant gives rights. Grant skips an empty name.
type Roles struct {
	Serve string // the role of kobo serve
	Read  string // the role of people who analyse data
}

// WrittenOnce are the tables whose rows kobo serve may only add and read.
var WrittenOnce = []string{
	"event", "evidence_erased", "evidence_leaf", "evidence_tile", "ledger_entry", "ledger_transfer", "operator_audit",
}

// Narrow are tables whose rows kobo serve may add and read, and of which it may change only these columns.
var Narrow = map[string]string{"evidence_checkpoint": "state", "evidence_tree": "size, lost"}

// ownersTables are the tables that kobo serve may only read. Commands of the owner write them.
var ownersTables = []string{"archive_kind", "archive_month", "db_schema", "goose_db_version"}

// served returns the rights to a table that kobo serve needs.
func served(table string) []string {
	switch {
	case slices.Contains(ownersTables, table):
		return []string{"SELECT"}
	case slices.Contains(WrittenOnce, table):
		return []string{"SELECT", "INSERT"}
	case Narrow[table] != "":
		return []string{"SELECT", "INSERT", "UPDATE (" + Narrow[table] + ")"}
	}
	return []string{"SELECT", "INSERT", "UPDATE", "DELETE"}
}

// Grant gives the roles exactly the rights that they need to the tables of this schema, and takes all
// other rights to these tables away from them. If a role still has a right that it must not have, for
// example because it owns the tables, Grant fails and changes nothing.
func (d *DB) Grant(ctx context.Context, r Roles) error {
	if d.dialect != Postgres {
		return errors.New("db: only PostgreSQL has roles; on SQLite the owner of the file has all rights")
	}
	if r.Serve == r.Read {
		return errors.New("db: the serving role and the reading role must differ")
	}
	return d.Tx(ctx, func(q Querier) error {
		tables, err := All(ctx, q, Value[string], `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()`)
		if err == nil && r.Serve != "" {
			err = grant(ctx, q, r.Serve, tables, serves)
		}
		if err == nil && r.Read != "" {
			err = grant(ctx, q, r.Read, tables, reads)
		}
		if err == nil && r.Read != "" {
			err = hidden(ctx, q, r.Read, tables)
		}
		return err
	})
}

// rights is a function that returns the rights to give to a table, and the rights that the role must
// not have. Rights are written as in GRANT, and may name columns.
type rights func(ctx context.Context, q Querier, table string) (given, forbidden []string, err error)

func serves(_ context.Context, _ Querier, table string) (given, forbidden []string, err error) {
	given = served(table)
	return given, slices.DeleteFunc([]string{"INSERT", "UPDATE", "DELETE", "TRUNCATE"}, func(r string) bool { return slices.Contains(given, r) }), nil
}

// reads gives the right to read the columns that are not in Confidential.
func reads(ctx context.Context, q Querier, table string) (given, forbidden []string, err error) {
	columns, err := All(ctx, q, Value[string], `SELECT column_name::text FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`, table)
	var shown []string
	for _, c := range columns {
		if !slices.Contains(Confidential[table], c) {
			shown = append(shown, quoted(c))
		}
	}
	if len(shown) > 0 {
		given = []string{"SELECT (" + strings.Join(shown, ", ") + ")"}
	}
	return given, []string{"INSERT", "UPDATE", "DELETE", "TRUNCATE"}, err
}

// hidden returns an error if a role may read a column that is in Confidential.
func hidden(ctx context.Context, q Querier, role string, tables []string) error {
	for _, table := range tables {
		for _, column := range Confidential[table] {
			reads, err := One(ctx, q, Value[bool], "SELECT has_column_privilege($1, quote_ident($2), $3, 'SELECT')", role, table, column)
			if err != nil {
				return err
			}
			if reads {
				return fmt.Errorf("db: the role %s can still read %s.%s: it must not own the table, nor belong to a role with that right, "+
					"and PUBLIC must not have it", role, table, column)
			}
		}
	}
	return nil
}

func grant(ctx context.Context, q Querier, role string, tables []string, of rights) error {
	schema, err := One(ctx, q, Value[string], "SELECT current_schema()::text")
	if err != nil {
		return err
	}
	statements := []string{
		"REVOKE ALL ON ALL TABLES IN SCHEMA " + quoted(schema) + " FROM " + quoted(role),
		"GRANT USAGE ON SCHEMA " + quoted(schema) + " TO " + quoted(role),
	}
	forbidden := map[string][]string{}
	for _, table := range tables {
		given, not, err := of(ctx, q, table)
		if err != nil {
			return err
		}
		if forbidden[table] = not; len(given) > 0 {
			statements = append(statements, "GRANT "+strings.Join(given, ", ")+" ON "+quoted(table)+" TO "+quoted(role))
		}
	}
	for _, s := range statements {
		if _, err := q.Exec(ctx, s); err != nil {
			return err
		}
	}
	return holdsNoMore(ctx, q, role, forbidden)
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// holdsNoMore returns an error if a role has a forbidden right, or may create tables.
func holdsNoMore(ctx context.Context, q Querier, role string, forbidden map[string][]string) error {
	creates, err := One(ctx, q, Value[bool], "SELECT has_schema_privilege($1, current_schema(), 'CREATE')", role)
	if err != nil {
		return err
	}
	if creates {
		return fmt.Errorf("db: the role %s may create tables: it must be neither a superuser nor the owner of the schema "+
			"(before PostgreSQL 15 also: REVOKE CREATE ON SCHEMA public FROM PUBLIC)", role)
	}
	for table, rights := range forbidden {
		if len(rights) == 0 {
			continue
		}
		has, err := One(ctx, q, Value[bool], `SELECT bool_or(CASE
			WHEN held = 'UPDATE' THEN (SELECT bool_or(has_column_privilege($1, attrelid, attnum, held)) FROM pg_attribute
				WHERE attrelid = quote_ident($2)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL (string_to_array($4, ', ')))
			WHEN held = 'INSERT' THEN has_any_column_privilege($1, quote_ident($2), held)
			ELSE has_table_privilege($1, quote_ident($2), held) END)
			FROM unnest(string_to_array($3, ', ')) AS held`, role, table, strings.Join(rights, ", "), Narrow[table])
		if err != nil {
			return err
		}
		if has {
			return fmt.Errorf("db: the role %s still has one of the rights %s to the table %s: it must not own the table, nor belong to a role with that right, and PUBLIC must not have it",
				role, strings.Join(rights, ", "), table)
		}
	}
	return nil
}

// MayChange reports whether the role of this program may change the rows of a table. SQLite has no roles.
func (d *DB) MayChange(ctx context.Context, table string) (bool, error) {
	if d.dialect != Postgres {
		return true, nil
	}
	return One(ctx, d, Value[bool], "SELECT has_table_privilege(quote_ident($1), 'UPDATE')", table)
}

// Rights returns the tables to which the role of this program lacks a right that kobo serve needs, and
// the tables of WrittenOnce and Narrow whose rows the role could change or remove. SQLite has no roles.
func (d *DB) Rights(ctx context.Context) (missing, excessive []string, err error) {
	if d.dialect != Postgres {
		return nil, nil, nil
	}
	type held struct {
		table                        string
		read, add, change, some, cut bool
	}
	all, err := All(ctx, d, func(s Scanner) (h held, err error) {
		return h, s.Scan(&h.table, &h.read, &h.add, &h.change, &h.some, &h.cut)
	}, `SELECT tablename::text, has_table_privilege(quote_ident(tablename), 'SELECT'), has_table_privilege(quote_ident(tablename), 'INSERT'),
			has_table_privilege(quote_ident(tablename), 'UPDATE'), has_any_column_privilege(quote_ident(tablename), 'UPDATE'),
			has_table_privilege(quote_ident(tablename), 'DELETE, TRUNCATE')
		FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`)
	for _, h := range all {
		narrow := Narrow[h.table]
		has := map[string]bool{"SELECT": h.read, "INSERT": h.add, "UPDATE": h.change, "UPDATE (" + narrow + ")": h.some, "DELETE": h.cut}
		if slices.ContainsFunc(served(h.table), func(r string) bool { return !has[r] }) {
			missing = append(missing, h.table)
		}
		once := slices.Contains(WrittenOnce, h.table)
		if once && (h.some || h.cut) || narrow != "" && (h.change || h.cut) {
			excessive = append(excessive, h.table)
		}
	}
	return missing, excessive, err
}
