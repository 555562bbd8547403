package event

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

const columns = `company_id, sequence, id, kind, data, created_at`

var table = db.Declare[Event]("event", db.Reads(columns), db.Unique("company_id", "id"))

// Find returns one event of the company. The ID of an event contains its number. Events of schema
// 48 and earlier have other IDs, which begin with 0. Only those are in an index.
func (s *Service) Find(ctx context.Context, company, eventID string) (Event, error) {
	query, args := `SELECT `+columns+` FROM event WHERE company_id = $1 AND id = $2 AND id < 'f'`, []any{company, eventID}
	if sequence, ok := id.Number(eventID); ok {
		query, args = `SELECT `+columns+` FROM event WHERE company_id = $1 AND id = $2 AND sequence = $3`, append(args, sequence)
	}
	e, err := db.One(ctx, s.db, table.Scan, query, args...)
	return e, db.Missing(err, "Event not found")
}

func (s *Service) page(ctx context.Context, company string, after int64, limit int) ([]Event, error) {
	return db.All(ctx, s.db, table.Scan,
		`SELECT `+columns+` FROM event WHERE company_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`, company, after, limit)
}
