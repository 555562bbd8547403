package idempotency

import (
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Running is Begin as rows.
func (k *Key) Running(subject string, until time.Time) []db.Record {
	var u ledger.Unit
	k.Begin(&u, subject, until)
	return u.Claims
}

// Answered is Answer as rows.
func (k *Key) Answered(result any, err error) []db.Record {
	var u ledger.Unit
	k.Answer(&u, result, err)
	return u.Claims
}

// Done is Finish as transitions.
func (k *Key) Done(result any, err error) []ledger.Move {
	var u ledger.Unit
	k.Finish(&u, result, err)
	return u.Moves
}

// Unanswered is Release as transitions.
func (k *Key) Unanswered() []ledger.Move {
	var u ledger.Unit
	k.Release(&u)
	return u.Moves
}
