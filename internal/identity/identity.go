// Package identity proves that somebody is the holder of a Bank Verification
// Number (BVN), by a one-time password (OTP) that the provider sends to the
// phone on that number's record.
//
// Each OTP costs a fee and rings a stranger's phone, so their number is limited:
// at most three, and one a minute. Those to a company's signatory count by
// session, and a spent session gives way to a new one a day after its last OTP.
// Those to customers count by BVN, and their count begins anew after a day. An
// attempt is written to the database before the provider is asked. Of two calls
// at the same instant one gets the attempt, and a call that failed has used it up
// all the same.
//
// Guesses of an OTP are limited too: ten for a session, and one more each 30
// seconds. Another OTP makes them ten again.
//
// A company's OTPs of a day, of both purposes, are limited by its quota.
//
// BVNs are sealed at rest and found by a keyed index. They are in no answer, no
// log line, no event and no error.
package identity

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Purpose is whose identity a session proves.
type Purpose string

// The purposes.
const (
	Corporate Purpose = "corporate" // a company's signatory
	Customer  Purpose = "customer"  // a company's own customer
)

// State is where a session stands.
type State string

// The states of a session (wallet-api.md, Corporate KYC session).
const (
	Pending  State = "PENDING"  // no OTP has been sent yet
	OTPSent  State = "OTP_SENT" // an OTP is on its way, or was
	Verified State = "VERIFIED" // proven: the session is closed
)

// Session is one identity being proven.
type Session struct {
	Company   string
	ID        string
	Purpose   Purpose
	State     State
	Reference string // the provider's session: what its answer to the OTP is asked by; "" before there is one
	CreatedAt time.Time
	UpdatedAt time.Time

	subject  string // what it is about; "" once it is closed
	bvn      string // sealed
	turn     int64  // OTPs ever asked for; 0: not written yet
	read     int64  // the turn that was read: what a move expects to find
	attempts int64  // OTPs asked for that count
	askedAt  time.Time
	spent    *Session // whose place it takes, if it is not written yet
}

// Closed tells whether the session is over: proven, or replaced by a later one.
func (x Session) Closed() bool { return x.subject == "" }

// Service proves identities.
type Service struct {
	db       *db.DB
	book     *ledger.Book
	clock    clock.Clock
	log      *slog.Logger
	keys     *secret.Keyring
	verifier provider.Verifier
	window   time.Duration
}

// NewService proves identities through a verifier. Window is how long a call to
// it may take.
func NewService(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, keys *secret.Keyring, v provider.Verifier, window time.Duration) *Service {
	return &Service{db: d, book: book, clock: c, log: log, keys: keys, verifier: v, window: window}
}

// sealed is the column a BVN is bound to.
const sealed = "identity_session.bvn"

// Subjects stand for a BVN in Open, without telling it. The first is what a new
// session is begun with; the others are of older keys.
func (s *Service) Subjects(company string, bvn secret.Text) []string {
	return s.keys.BlindIndex(company, sealed, bvn.Reveal())
}

// New is a session that is not written yet: Send writes it.
func (s *Service) New(company string, purpose Purpose, subject string, bvn secret.Text) (Session, error) {
	now := s.clock.Now()
	box, err := s.keys.Seal(company, sealed, bvn.Reveal())
	return Session{
		Company: company, ID: id.New(), Purpose: purpose, State: Pending, subject: subject, bvn: box,
		CreatedAt: now, UpdatedAt: now,
	}, err
}

// BVN is the number of the session, for a provider that wants it once more.
func (s *Service) BVN(x Session) (secret.Text, error) { return s.keys.Open(x.Company, sealed, x.bvn) }

// About is the session for this BVN. A session that was begun for another one is
// begun anew, and the OTPs that were sent for the other number count for nothing.
func (s *Service) About(x Session, bvn secret.Text) (Session, error) {
	before, err := s.BVN(x)
	if err != nil || before.Reveal() == bvn.Reveal() {
		return x, err
	}
	x.State, x.Reference, x.attempts, x.askedAt = Pending, "", 0, time.Time{}
	x.bvn, err = s.keys.Seal(x.Company, sealed, bvn.Reveal())
	return x, err
}

// Find is a session of the company, open or closed.
func (s *Service) Find(ctx context.Context, company string, purpose Purpose, sessionID string) (Session, error) {
	return absent(s.find(ctx, company, purpose, sessionID))
}

// Open is the session that is being proven for one of these subjects.
func (s *Service) Open(ctx context.Context, company string, purpose Purpose, subjects ...string) (Session, error) {
	for _, subject := range subjects {
		subjects = append(subjects, subject+successor)
	}
	return absent(s.open(ctx, company, purpose, subjects))
}

var errNoSession = fault.New(fault.Missing, "Session not found")

func absent(x Session, err error) (Session, error) {
	if errors.Is(err, db.ErrNone) {
		return x, errNoSession
	}
	return x, err
}

// Words are what a caller hears when the provider says nothing better.
type Words struct{ Sent, Failed string }

// The words of the contract for a first OTP and for another one.
var (
	First = Words{"OTP sent", "Unable to initiate BVN"}
	Again = Words{"OTP re-sent", "Unable to retry"}
)

// Paper is what a business writes together with an OTP.
type Paper struct {
	// Claims must be new, and are written before the provider is asked.
	Claims []db.Record
	// Then is what goes with the outcome: message and the session as it is now,
	// or the fault. It may be nil.
	Then func(x Session, message string, err error) ([]ledger.Move, []db.Record)
}

// Send has an OTP sent: a session's first, or another one, which makes the
// earlier one void. It returns the session as it is then and the provider's
// words. Faults are Limited (nothing was sent) and Refused (the provider could
// not, or did not say). A refusal of Paper.Claims comes back as it is.
//
// The call goes on when the caller hangs up.
func (s *Service) Send(ctx context.Context, x Session, w Words, p Paper) (Session, string, error) {
	fresh := x.turn == 0
	x.read = x.turn
	bvn, err := s.BVN(x)
	if err != nil {
		return x, "", err
	}
	x, u, err := s.counted(ctx, x, bvn)
	if err != nil {
		return x, "", err
	}
	u.Claims = append(u.Claims, p.Claims...)
	if fresh {
		u.Claims = append(u.Claims, x.record())
		if x.spent != nil {
			u.Moves = append(u.Moves, s.end(*x.spent, x.spent.State))
		}
	} else {
		u.Moves = append(u.Moves, x.move())
	}
	if err := s.book.Commit(ctx, u); err != nil {
		return x, "", quota.Reached(x.overtaken(err), s.clock.Now())
	}
	x.read = x.turn
	answer := s.ask(ctx, func(ctx context.Context) provider.Answer {
		return s.verifier.Start(ctx, provider.IdentityStart{Reference: x.ID + "-" + strconv.FormatInt(x.turn, 10), BVN: bvn})
	})
	if strings.Contains(answer.Message, bvn.Reveal()) {
		answer.Message = "" // a plug promises words without personal data; a BVN is worth a second look
	}
	return s.conclude(ctx, x, answer, w, p)
}

// conclude writes what came of an OTP.
func (s *Service) conclude(ctx context.Context, x Session, a provider.Answer, w Words, p Paper) (Session, string, error) {
	u := ledger.Unit{Company: x.Company}
	message, why := cmp.Or(Said(a), w.Sent), error(nil)
	if a.Outcome == provider.Confirmed && a.Reference != "" {
		x.State, x.Reference, x.UpdatedAt = OTPSent, a.Reference, s.clock.Now()
		u.Moves = append(u.Moves, x.move())
	} else {
		// Nobody can answer an OTP whose session we do not know, so an unknown
		// outcome is a failure to the caller. The turn is used up.
		message, why = "", fault.New(fault.Refused, cmp.Or(Said(a), w.Failed))
	}
	if p.Then != nil {
		moves, notes := p.Then(x, message, why)
		u.Moves, u.Notes = append(u.Moves, moves...), append(u.Notes, notes...)
	}
	if len(u.Moves)+len(u.Notes) > 0 {
		if err := s.book.Commit(context.WithoutCancel(ctx), u); err != nil {
			return x, "", x.overtaken(err)
		}
	}
	return x, message, why
}

// Said are the words of the provider, if it spoke at all: what the client says of
// a broken line is not for the company.
func Said(a provider.Answer) string {
	switch a.Code {
	case provider.CodeNotSent, provider.CodeTimeout, provider.CodeConnection, provider.CodeUnreadable, provider.CodeServerError:
		return ""
	}
	return a.Message
}

// ask calls the provider, which has a time to answer.
func (s *Service) ask(ctx context.Context, call func(context.Context) provider.Answer) provider.Answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.window)
	defer cancel()
	a := call(ctx)
	if a.Outcome != provider.Confirmed {
		s.log.Info("an identity was not proven", "outcome", a.Outcome.String(), "code", a.Code)
	}
	return a
}

// Confirm gives the OTP back, as it was typed, and returns the provider's proof.
// The session stays open until a unit with Close says otherwise. Faults are
// Limited (too many guesses) and Refused.
func (s *Service) Confirm(ctx context.Context, x Session, otp secret.Text) (reference string, err error) {
	failed := fault.New(fault.Refused, "BVN OTP validation failed")
	if x.Reference == "" {
		return "", failed
	}
	if err := s.Guess(ctx, x); err != nil {
		return "", err
	}
	a := s.ask(ctx, func(ctx context.Context) provider.Answer {
		return s.verifier.Confirm(ctx, provider.IdentityConfirm{Session: x.Reference, OTP: otp})
	})
	if a.Outcome != provider.Confirmed || a.Reference == "" {
		return "", failed
	}
	return a.Reference, nil
}

// Close is the move that ends a session: its identity is proven.
func (s *Service) Close(x Session) ledger.Move { return s.end(x, Verified) }

// end is the move that closes a session in a state.
func (s *Service) end(x Session, in State) ledger.Move {
	x.read = x.turn
	x.turn++ // a call that read the session open may not change it any more
	x.State, x.subject, x.UpdatedAt = in, "", s.clock.Now()
	return x.move()
}

// Overtaken tells whether a unit was refused because its session had changed, or
// the count of its OTPs.
func Overtaken(err error) bool {
	return ledger.Is(err, ledger.Moved, table, personTable) || ledger.Is(err, ledger.Exists, table, personTable)
}

// overtaken turns the refusal of a turn into words: another call has just had it.
// If the turn was the last of three, no other follows for a day.
func (x Session) overtaken(err error) error {
	switch {
	case !Overtaken(err):
		return err
	case x.attempts >= most:
		return errTooMany.After(ration)
	}
	return errTooSoon.After(cooldown)
}

// Until is when a call that begins now is certainly over.
func (s *Service) Until() time.Time { return s.clock.Now().Add(s.window) }
