package identity

import (
	"context"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const (
	columns = `company_id, id, purpose, subject, bvn, state, turn, attempts, asked_at, reference, provider,
	created_at, updated_at, guessed_until, customer_id`
	personColumns = `company_id, purpose, subject, turn, attempts, asked_at`
)

var (
	sessions = db.Declare[Session]("identity_session", db.Reads(columns), db.UniqueIfGiven("company_id", "purpose", "subject"))
	persons  = db.Declare[person]("identity_attempt", db.Reads(personColumns))
)

// person is the row that counts a company's OTPs to the holder of a BVN.
type person struct {
	Company string  `db:"company_id,key"`
	Purpose Purpose `db:"purpose,key"`
	subject string  `db:"subject,key"` // the BVN's blind index
	turn    int64   `db:"turn,version"`
	count
}

// record returns the session's row. Every write of the row makes all guesses available again.
func (x Session) record() db.Record {
	x.guessedUntil = time.Time{}
	return sessions.Record(x)
}

func turnText(turn int64) string { return strconv.FormatInt(turn, 10) }

func (s *Service) findPerson(ctx context.Context, company string, purpose Purpose, subjects []string) (person, error) {
	return db.One(ctx, s.DB, persons.Scan, `SELECT `+personColumns+` FROM identity_attempt
		WHERE company_id = $1 AND purpose = $2 AND subject = ANY($3) ORDER BY asked_at DESC LIMIT 1`, company, string(purpose), subjects)
}

// takeGuess uses one of the session's guesses, and reports whether the limit allowed the guess.
func (s *Service) takeGuess(ctx context.Context, x Session, now, limit time.Time) (bool, error) {
	n, err := s.DB.Exec(ctx, `
		UPDATE identity_session
		SET guessed_until = CASE WHEN guessed_until > $3 THEN guessed_until ELSE $3 END + $4
		WHERE company_id = $1 AND id = $2 AND guessed_until <= $5`,
		x.Company, x.ID, clock.Micros(now), guessEvery.Microseconds(), clock.Micros(limit))
	return n == 1, err
}

func (s *Service) guessedUntil(ctx context.Context, x Session) (time.Time, error) {
	until, err := db.One(ctx, s.DB, db.Value[int64],
		`SELECT guessed_until FROM identity_session WHERE company_id = $1 AND id = $2`, x.Company, x.ID)
	return clock.Time(until), err
}

func (s *Service) find(ctx context.Context, company string, purpose Purpose, sessionID string) (Session, error) {
	return db.One(ctx, s.DB, sessions.Scan, `SELECT `+columns+` FROM identity_session
		WHERE company_id = $1 AND id = $2 AND purpose = $3`, company, sessionID, string(purpose))
}

func (s *Service) open(ctx context.Context, company string, purpose Purpose, subjects []string) (Session, error) {
	return db.One(ctx, s.DB, sessions.Scan, `SELECT `+columns+` FROM identity_session
		WHERE company_id = $1 AND purpose = $2 AND subject = ANY($3) AND subject <> ''`, company, string(purpose), subjects)
}

// closed returns the closed sessions of a customer.
func (s *Service) closed(ctx context.Context, company, customerID string) ([]Session, error) {
	return db.All(ctx, s.DB, sessions.Scan, `SELECT `+columns+` FROM identity_session
		WHERE company_id = $1 AND customer_id = $2 AND customer_id <> ''`, company, customerID)
}
