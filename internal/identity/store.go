package identity

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// The turn is a number, kept as a text because moves are guarded by it.
var table = &db.Table{
	Name: "identity_session", Key: 2, State: "turn", Unique: []string{"company_id", "purpose", "subject"}, IfGiven: true,
	Columns: slices.Concat(
		db.Texts("company_id", "id", "purpose", "subject", "bvn", "state", "turn"),
		db.Ints("attempts"),
		db.Texts("reference"),
		db.Ints("asked_at", "created_at", "updated_at", "guessed_until"),
	),
}

// personTable counts the OTPs of a company to the holder of a BVN.
var personTable = &db.Table{
	Name: "identity_attempt", Key: 3, State: "turn",
	Columns: slices.Concat(
		db.Texts("company_id", "purpose", "subject", "turn"),
		db.Ints("attempts", "asked_at"),
	),
}

// person is the holder of a BVN as a company's OTPs to them count.
type person struct {
	company string
	purpose Purpose
	subject string // the BVN's blind index
	turn    int64
	count
}

func (p person) record() db.Record {
	return db.Record{Table: personTable, Values: []any{
		p.company, string(p.purpose), p.subject, turnText(p.turn), p.attempts, clock.Micros(p.askedAt),
	}}
}

func turnText(turn int64) string { return strconv.FormatInt(turn, 10) }

func (s *Service) findPerson(ctx context.Context, company string, purpose Purpose, subjects []string) (person, error) {
	return db.One(ctx, s.db, func(sc db.Scanner) (person, error) {
		p := person{company: company, purpose: purpose}
		var turn string
		var asked int64
		err := sc.Scan(&p.subject, &turn, &p.attempts, &asked)
		if err == nil {
			p.turn, err = strconv.ParseInt(turn, 10, 64)
		}
		p.askedAt = clock.Time(asked)
		return p, err
	}, `SELECT subject, turn, attempts, asked_at FROM identity_attempt
		WHERE company_id = $1 AND purpose = $2 AND subject = ANY($3) ORDER BY asked_at DESC LIMIT 1`, company, string(purpose), subjects)
}

// takeGuess moves the session's guesses on by one, unless that would pass the
// limit.
func (s *Service) takeGuess(ctx context.Context, x Session, now, limit time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, `
		UPDATE identity_session
		SET guessed_until = CASE WHEN guessed_until > $3 THEN guessed_until ELSE $3 END + $4
		WHERE company_id = $1 AND id = $2 AND guessed_until <= $5`,
		x.Company, x.ID, clock.Micros(now), guessEvery.Microseconds(), clock.Micros(limit))
	return n == 1, err
}

func (s *Service) guessedUntil(ctx context.Context, x Session) (time.Time, error) {
	until, err := db.One(ctx, s.db, db.Value[int64],
		`SELECT guessed_until FROM identity_session WHERE company_id = $1 AND id = $2`, x.Company, x.ID)
	return clock.Time(until), err
}

func (x Session) record() db.Record {
	return db.Record{Table: table, Values: []any{
		x.Company, x.ID, string(x.Purpose), x.subject, x.bvn, string(x.State), turnText(x.turn),
		x.attempts, x.Reference, clock.Micros(x.askedAt), clock.Micros(x.CreatedAt), clock.Micros(x.UpdatedAt), int64(0),
	}}
}

// move writes the session over the one that was read, if no other call has. All
// its guesses are available again.
func (x Session) move() ledger.Move {
	return ledger.Move{
		Table: table, Key: []any{x.Company, x.ID},
		From: []string{turnText(x.read)}, To: turnText(x.turn),
		Set: []ledger.Change{
			{Column: "subject", Value: x.subject},
			{Column: "bvn", Value: x.bvn},
			{Column: "state", Value: string(x.State)},
			{Column: "attempts", Value: x.attempts},
			{Column: "reference", Value: x.Reference},
			{Column: "asked_at", Value: clock.Micros(x.askedAt)},
			{Column: "updated_at", Value: clock.Micros(x.UpdatedAt)},
			{Column: "guessed_until", Value: int64(0)},
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
