package identity

import (
	"context"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// The turn is a number, kept as a text because moves are guarded by it.
var table = &db.Table{
	Name: "identity_session", Key: 2, State: "turn", Unique: []string{"company_id", "purpose", "subject"},
	Columns: slices.Concat(
		db.Texts("company_id", "id", "purpose", "subject", "bvn", "state", "turn"),
		db.Ints("attempts"),
		db.Texts("reference"),
		db.Ints("asked_at", "created_at", "updated_at"),
	),
}

func (x Session) record() db.Record {
	return db.Record{Table: table, Values: []any{
		x.Company, x.ID, string(x.Purpose), x.subject, x.bvn, string(x.State), strconv.FormatInt(x.turn, 10),
		x.attempts, x.Reference, clock.Micros(x.askedAt), clock.Micros(x.CreatedAt), clock.Micros(x.UpdatedAt),
	}}
}

// move writes the session over the one that was read, if nobody else has.
func (x Session) move() ledger.Move {
	return ledger.Move{
		Table: table, Key: []any{x.Company, x.ID},
		From: []string{strconv.FormatInt(x.read, 10)}, To: strconv.FormatInt(x.turn, 10),
		Set: []ledger.Change{
			{Column: "subject", Value: x.subject},
			{Column: "bvn", Value: x.bvn},
			{Column: "state", Value: string(x.State)},
			{Column: "attempts", Value: x.attempts},
			{Column: "reference", Value: x.Reference},
			{Column: "asked_at", Value: clock.Micros(x.askedAt)},
			{Column: "updated_at", Value: clock.Micros(x.UpdatedAt)},
		},
	}
}

const columns = `SELECT company_id, id, purpose, subject, bvn, state, turn, attempts, reference, asked_at, created_at, updated_at
	FROM identity_session `

func scan(sc db.Scanner) (Session, error) {
	var x Session
	var turn string
	var asked, created, updated int64
	err := sc.Scan(&x.Company, &x.ID, &x.Purpose, &x.subject, &x.bvn, &x.State, &turn, &x.attempts, &x.Reference,
		&asked, &created, &updated)
	if err == nil {
		x.turn, err = strconv.ParseInt(turn, 10, 64)
	}
	x.askedAt, x.CreatedAt, x.UpdatedAt = clock.Time(asked), clock.Time(created), clock.Time(updated)
	return x, err
}

func (s *Service) find(ctx context.Context, company string, purpose Purpose, sessionID string) (Session, error) {
	return db.One(ctx, s.db, scan, columns+`WHERE company_id = $1 AND id = $2 AND purpose = $3`, company, sessionID, string(purpose))
}

func (s *Service) open(ctx context.Context, company string, purpose Purpose, subjects []string) (Session, error) {
	return db.One(ctx, s.db, scan,
		columns+`WHERE company_id = $1 AND purpose = $2 AND subject = ANY($3) AND subject <> ''`, company, string(purpose), subjects)
}
