// Package identity proves that somebody is the holder of a Bank Verification
// Number (BVN). The provider sends a one-time password (OTP) to the phone on that
// number's record.
//
// Each OTP costs a fee and disturbs a person, so the number of OTPs is limited: at
// most three, and one a minute. OTPs to a company's signatory count by session. A
// new session replaces a spent one a day after its last OTP. OTPs to customers
// count by BVN, and their count begins anew after a day.
//
// The database has an attempt before the provider is asked. One of two calls at the
// same instant gets the attempt. A call that failed has used its attempt up.
//
// Guesses of an OTP are limited too: ten for a session, and one more each 30
// seconds. Another OTP makes them ten again. A company's quota limits its OTPs of a
// day, of both purposes.
//
// BVNs are encrypted in the database and found by a keyed index. No answer, log line,
// event or error shows a BVN.
package identity

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Purpose says whose identity a session proves: a signatory's or a customer's.
type Purpose string

// The purposes.
const (
	Corporate Purpose = "corporate" // a company's signatory
	Customer  Purpose = "customer"  // a company's own customer
)

// State is the state of a session.
type State string

// The states of a session (wallet-api.md, Corporate KYC session).
const (
	Pending  State = "PENDING"  // no OTP has been sent yet
	OTPSent  State = "OTP_SENT" // an OTP has been sent
	Verified State = "VERIFIED" // proven: the session is closed
)

// Session is one identity being proven.
type Session struct {
	Company string  `db:"company_id,key"`
	ID      string  `db:"id,key"`
	Purpose Purpose `db:"purpose"`
	subject string  `db:"subject,changes"` // the BVN's index or the customer; "" once the session is closed
	bvn     string  `db:"bvn,changes"`     // encrypted
	State   State   `db:"state,changes"`
	turn    int64   `db:"turn,version"` // OTPs ever asked for; 0: not written yet
	count
	Reference    string    `db:"reference,changes"` // the provider's session, which the answer to the OTP needs; "" before
	Provider     string    `db:"provider,changes"`  // sent the last OTP, by its name in the configuration
	CreatedAt    time.Time `db:"created_at"`
	UpdatedAt    time.Time `db:"updated_at,changes"`
	guessedUntil time.Time `db:"guessed_until,changes"`

	spent *Session // the session that this one replaces, until this one is written
}

// Closed reports whether the session is over: it is proven, or a later one replaced it.
func (x Session) Closed() bool { return x.subject == "" }

// Config is what the service needs.
type Config struct {
	DB     *db.DB
	Book   *ledger.Book
	Clock  clock.Clock
	Log    *slog.Logger
	Keys   *secret.Keyring
	Banks  provider.Router[provider.Verifier]
	Window time.Duration // the longest time that a call to the verifier may take
}

// Service proves identities.
type Service struct{ Config }

// New returns the service.
func New(c Config) *Service { return &Service{c} }

// sealed is the column that an encrypted BVN is bound to.
const sealed = "identity_session.bvn"

// Subjects returns the blind indexes of a BVN, which Open takes. New takes the first one.
// The others belong to older keys.
func (s *Service) Subjects(company string, bvn secret.Text) []string {
	return s.Keys.BlindIndex(company, sealed, bvn.Reveal())
}

// New returns a session that Send will write.
func (s *Service) New(company string, purpose Purpose, subject string, bvn secret.Text) (Session, error) {
	now := s.Clock.Now()
	box, err := s.Keys.Seal(company, sealed, bvn.Reveal())
	return Session{
		Company: company, ID: id.New(), Purpose: purpose, State: Pending, subject: subject, bvn: box,
		CreatedAt: now, UpdatedAt: now,
	}, err
}

// BVN returns the BVN of the session, for a provider that needs the number again.
func (s *Service) BVN(x Session) (secret.Text, error) { return s.Keys.Open(x.Company, sealed, x.bvn) }

// About returns the session for this BVN. If the session has another BVN, it begins anew,
// and the OTPs to the other BVN do not count.
func (s *Service) About(x Session, bvn secret.Text) (Session, error) {
	before, err := s.BVN(x)
	if err != nil || before.Reveal() == bvn.Reveal() {
		return x, err
	}
	x.State, x.Reference, x.count = Pending, "", count{}
	x.bvn, err = s.Keys.Seal(x.Company, sealed, bvn.Reveal())
	return x, err
}

// Find returns a session of the company, open or closed.
func (s *Service) Find(ctx context.Context, company string, purpose Purpose, sessionID string) (Session, error) {
	return absent(s.find(ctx, company, purpose, sessionID))
}

// Open returns the session that is being proven for one of these subjects.
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

// Words are the messages for the caller when the provider gives none.
type Words struct{ Sent, Failed string }

// The words of the contract for a first OTP and for another one.
var (
	First = Words{"OTP sent", "Unable to initiate BVN"}
	Again = Words{"OTP re-sent", "Unable to retry"}
)

// Effects are what a business writes together with an OTP. Either may be nil.
type Effects struct {
	// Begin adds to the unit before the call to the provider.
	Begin func(u *ledger.Unit)
	// End adds to the unit with the outcome: the provider's message, or the fault.
	End func(u *ledger.Unit, message string, err error)
}

// Send has an OTP sent, the first of a session or another one. Another OTP makes the
// earlier one void. Send returns the session as it is then and the provider's words.
// Faults are Limited (nothing was sent) and Refused (the provider could not, or did
// not answer). Send returns a refusal of the rows that Begin adds unchanged. The
// refusal of an Idempotency-Key comes before all others.
//
// The call goes on when the caller hangs up.
func (s *Service) Send(ctx context.Context, x Session, w Words, e Effects) (Session, string, error) {
	fresh := x.turn == 0
	bvn, err := s.BVN(x)
	if err != nil {
		return x, "", err
	}
	u := ledger.For(x.Company)
	if x, err = s.counted(ctx, &u, x, bvn); err != nil {
		return x, "", err
	}
	if bank := s.sender(x); bank != x.Provider {
		x.Provider, x.Reference = bank, "" // no bank knows the session of another bank
	}
	if e.Begin != nil {
		e.Begin(&u)
	}
	if fresh {
		u.Insert(x.record())
		if x.spent != nil {
			s.end(&u, *x.spent, x.spent.State)
		}
	} else {
		u.Update(x.record())
	}
	if err := idempotency.Taken(s.Book.Commit(ctx, u)); err != nil {
		return x, "", quota.Reached(x.overtaken(err), s.Clock.Now())
	}
	answer := s.ask(ctx, func(ctx context.Context) provider.Answer {
		return s.Banks.Named(x.Provider).Start(ctx, provider.IdentityStart{Reference: x.ID + "-" + turnText(x.turn), BVN: bvn})
	})
	if strings.Contains(answer.Message, bvn.Reveal()) {
		answer.Message = "" // a provider promises words without personal data, and we check for the BVN
	}
	return s.conclude(ctx, x, answer, w, e)
}

// routes are the kinds of account whose routes the sessions follow.
var routes = map[Purpose]string{Corporate: provider.CorporateAccounts, Customer: provider.CustomerAccounts}

// sender names the bank that sends the next OTP. A session stays with the bank of its
// last OTP while that bank is configured.
func (s *Service) sender(x Session) string {
	if x.Reference != "" && s.Banks.Named(x.Provider) != nil {
		return x.Provider
	}
	name, _ := s.Banks.For(routes[x.Purpose], x.Company)
	return name
}

// conclude writes the outcome of an OTP.
func (s *Service) conclude(ctx context.Context, x Session, a provider.Answer, w Words, e Effects) (Session, string, error) {
	u := ledger.For(x.Company)
	message, why := cmp.Or(Said(a), w.Sent), error(nil)
	if a.Outcome == provider.Confirmed && a.Reference != "" {
		x.State, x.Reference, x.UpdatedAt = OTPSent, a.Reference, s.Clock.Now()
		u.Transition(x.record(), turnText(x.turn))
	} else {
		// Without the provider's session nobody can check the OTP. So an unknown outcome
		// is a failure for the caller, and the attempt is used up.
		message, why = "", fault.New(fault.Refused, cmp.Or(Said(a), w.Failed))
	}
	if e.End != nil {
		e.End(&u, message, why)
	}
	if !u.IsEmpty() {
		if err := s.Book.Commit(context.WithoutCancel(ctx), u); err != nil {
			return x, "", x.overtaken(err)
		}
	}
	return x, message, why
}

// Said returns the provider's message, or "" without an answer. A message of our own HTTP
// client about a broken connection is not for the company.
func Said(a provider.Answer) string {
	switch a.Code {
	case provider.CodeNotSent, provider.CodeTimeout, provider.CodeConnection, provider.CodeUnreadable, provider.CodeServerError:
		return ""
	}
	return a.Message
}

// ask calls the provider with a deadline.
func (s *Service) ask(ctx context.Context, call func(context.Context) provider.Answer) provider.Answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Window)
	defer cancel()
	a := call(ctx)
	if a.Outcome != provider.Confirmed {
		s.Log.Info("an identity was not proven", "outcome", a.Outcome.String(), "code", a.Code)
	}
	return a
}

// Confirm gives the provider the OTP as it was typed, and returns the proof. The
// session stays open until Close. Faults are Limited (too many guesses) and Refused.
func (s *Service) Confirm(ctx context.Context, x Session, otp secret.Text) (reference string, err error) {
	failed := fault.New(fault.Refused, "BVN OTP validation failed")
	bank := s.Banks.Named(x.Provider)
	if x.Reference == "" || bank == nil {
		return "", failed
	}
	if err := s.Guess(ctx, x); err != nil {
		return "", err
	}
	a := s.ask(ctx, func(ctx context.Context) provider.Answer {
		return bank.Confirm(ctx, provider.IdentityConfirm{Session: x.Reference, OTP: otp})
	})
	if a.Outcome != provider.Confirmed || a.Reference == "" {
		return "", failed
	}
	return a.Reference, nil
}

// Close has a unit end a session whose identity is proven.
func (s *Service) Close(u *ledger.Unit, x Session) { s.end(u, x, Verified) }

// end adds the transition that closes a session in a state.
func (s *Service) end(u *ledger.Unit, x Session, in State) {
	x.turn++ // a call that read the open session may not change the closed one
	x.State, x.subject, x.UpdatedAt = in, "", s.Clock.Now()
	u.Update(x.record())
}

// Overtaken reports whether a unit was refused because its session, or the count of its
// OTPs, had changed.
func Overtaken(err error) bool {
	return ledger.Is(err, ledger.Moved, sessions.Table, persons.Table) || ledger.Is(err, ledger.Exists, sessions.Table, persons.Table)
}

// overtaken turns the refusal of an attempt into a fault: another call has used it.
// After the last of three attempts no other follows for a day.
func (x Session) overtaken(err error) error {
	switch {
	case !Overtaken(err):
		return err
	case x.attempts >= most:
		return errTooMany.After(period)
	}
	return errTooSoon.After(cooldown)
}

// Until returns when a call that begins now is certainly over.
func (s *Service) Until() time.Time { return s.Clock.Now().Add(s.Window) }
