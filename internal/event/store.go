package event

import (
	"context"
	"encoding/json"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

const columns = `company_id, sequence, id, kind, data, created_at, leaf, mac`

var table = db.Declare[Event]("event", db.Reads(columns), db.Unique("company_id", "id"), db.Evidence(), packs)

// packs makes the ledger store the data of events packed.
func packs(t *db.Table) {
	kind, data := t.Index("kind"), t.Index("data")
	t.Packing = &db.Packing{Column: data, Unpack: Unpack, Pack: func(row []any) string {
		return Pack(row[kind].(string), row[data].(string))
	}}
}

// scan reads an event from a row, without an environment.
func scan(row db.Scanner) (Event, error) {
	e, err := table.Scan(row)
	e.Data = json.RawMessage(Unpack(string(e.Data)))
	return e, err
}

// scan reads an event from a row.
func (s *Service) scan(row db.Scanner) (Event, error) {
	e, err := scan(row)
	e.Environment = s.Environment
	return e, err
}

// Find returns one event of the company. The ID of an event contains its number. Events of schema
// 48 and earlier have other IDs, which begin with 0. Only those are in an index.
func (s *Service) Find(ctx context.Context, company, eventID string) (Event, error) {
	query, args := `SELECT `+columns+` FROM event WHERE company_id = $1 AND id = $2 AND id < 'f'`, []any{company, eventID}
	if sequence, ok := id.Number(eventID); ok {
		query, args = `SELECT `+columns+` FROM event WHERE company_id = $1 AND id = $2 AND sequence = $3`, append(args, sequence)
	}
	e, err := db.One(ctx, s.db, s.scan, query, args...)
	return e, db.Missing(err, "Event not found")
}

// IsGenuine reports whether a row with a number has the MAC of its content. A row without a number was
// written before events were signed.
func (s *Service) IsGenuine(e Event) bool {
	return e.Leaf == 0 && e.MAC == "" || s.db.Signer().Verify(db.Content(nil, table.Table, table.Record(e).Values), e.MAC)
}

func (s *Service) page(ctx context.Context, company string, after int64, limit int) ([]Event, error) {
	return db.All(ctx, s.db, s.scan,
		`SELECT `+columns+` FROM event WHERE company_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`, company, after, limit)
}

// Cursor returns the place of an event in the list of its company.
func (e Event) Cursor() string { return db.Place{At: e.Sequence}.Cursor() }

// Below returns at most limit events of the company that are kept, the newest first. They are below the event with the cursor, which is ""
// for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) Below(ctx context.Context, company, cursor string, limit int) ([]Event, error) {
	at, err := db.PlaceOf(cursor)
	if err != nil {
		return nil, err
	}
	return db.All(ctx, s.db, s.scan,
		`SELECT `+columns+` FROM event WHERE company_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3`, company, at.At, limit)
}

// First returns the number of the company's first event that is kept, or 0 if there is none.
func (s *Service) First(ctx context.Context, company string) (int64, error) {
	return db.OrZero(db.One(ctx, s.db, db.Value[int64],
		`SELECT sequence FROM event WHERE company_id = $1 ORDER BY sequence LIMIT 1`, company))
}

// Leaves returns the smallest and the largest evidence number of the events from … to.
func (s *Service) Leaves(ctx context.Context, company string, from, to int64) (first, last int64, err error) {
	both, err := db.One(ctx, s.db, db.Fields[struct{ First, Last int64 }], `SELECT coalesce(min(leaf), 0), coalesce(max(leaf), 0) FROM event
		WHERE company_id = $1 AND sequence >= $2 AND sequence <= $3`, company, from, to)
	return both.First, both.Last, err
}

// NextCompany returns the next company with events, in the order of company IDs, or db.ErrNone.
func (s *Service) NextCompany(ctx context.Context, after string) (string, error) {
	return db.One(ctx, s.db, db.Value[string],
		`SELECT company_id FROM event WHERE company_id > $1 ORDER BY company_id LIMIT 1`, after)
}

// Remove removes a company's oldest events, at most limit, up to the number through. It returns how
// many events it has removed. The caller must have archived these events.
func (s *Service) Remove(ctx context.Context, company string, through int64, limit int) (int64, error) {
	return s.db.Exec(ctx, `DELETE FROM event WHERE company_id = $1 AND sequence IN (
			SELECT sequence FROM event WHERE company_id = $1 AND sequence <= $2 ORDER BY sequence LIMIT $3)`, company, through, limit)
}
