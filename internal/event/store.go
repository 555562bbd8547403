package event

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

var table = &db.Table{
	Name: "event", Key: 2, Unique: []string{"company_id", "id"},
	Columns: []db.Column{
		{Name: "company_id"},
		{Name: "sequence", Type: db.Int},
		{Name: "id"},
		{Name: "kind"},
		{Name: "data"},
		{Name: "created_at", Type: db.Int},
	},
}

const columns = `SELECT company_id, sequence, id, kind, data, created_at FROM event `

func scan(s db.Scanner) (Event, error) {
	var e Event
	var data string
	var at int64
	err := s.Scan(&e.Company, &e.Sequence, &e.ID, &e.Kind, &data, &at)
	e.Data, e.CreatedAt = []byte(data), clock.Time(at)
	return e, err
}

func (s *Service) find(ctx context.Context, company, eventID string) (Event, error) {
	return db.One(ctx, s.db, scan, columns+`WHERE company_id = $1 AND id = $2`, company, eventID)
}

func (s *Service) page(ctx context.Context, company string, after int64, limit int) ([]Event, error) {
	return db.All(ctx, s.db, scan,
		columns+`WHERE company_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`, company, after, limit)
}
