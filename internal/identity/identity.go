// Package identity proves that a person is the holder of a Bank Verification Number (BVN). The
// provider sends a one-time password (OTP) to the phone number in the BVN's record.
//
// Each OTP costs a fee and disturbs a person. Kobo therefore sends at most three OTPs, and at most
// one per minute. OTPs to a company's signatory are counted per session. If a session has used its
// three OTPs, a new session may replace it a day after the last OTP. OTPs to customers are counted
// per BVN, and the count starts again at zero a day after the last OTP.
//
// Kobo writes an attempt to the database before it calls the provider. Only one
// of two concurrent requests gets the attempt. If the call to the provider fails, the attempt is still used.
//
// Guesses of an OTP are limited too: a session allows ten guesses, and one more every 30 seconds. A
// new OTP allows ten guesses again. In addition, a quota limits a company's OTPs per day, for
// signatories and customers together.
//
// BVNs are encrypted in the database, and Kobo finds them by a keyed index. Responses, log lines,
// events and errors never show a BVN.
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

// Purpose is the kind of person whose identity a session proves.
type Purpose string

// The purposes of a session.
const (
	Corporate Purpose = "corporate" // a company's signatory
	Customer  Purpose = "customer"  // a company's customer
)

// State is the state of a session.
type State string

// The states of a session (wallet-api.md, Corporate KYC session).
const (
	Pending  State = "PENDING"  // no OTP was sent yet
	OTPSent  State = "OTP_SENT" // an OTP was sent
	Verified State = "VERIFIED" // the identity is proven, and the session is closed
)

// Session is the attempt to prove a person's identity with OTPs.
type Session struct {
	Company string  `db:"company_id,key"`
	ID      string  `db:"id,key"`
	Purpose Purpose `db:"purpose"`
	subject string  `db:"subject,changes"` // the BVN's index or the customer's ID; "" in a closed session
	bvn     string  `db:"bvn,changes"`     // encrypted
	State   State   `db:"state,changes"`
	turn    int64   `db:"turn,version"` // the number of requested OTPs; 0 until the session is written
	count
	Reference    string    `db:"reference,changes"` // the provider's session, needed to check the OTP; "" until an OTP was sent
	Provider     string    `db:"provider,changes"`  // the configured name of the provider that sent the latest OTP
	CreatedAt    time.Time `db:"created_at"`
	UpdatedAt    time.Time `db:"updated_at,changes"`
	guessedUntil time.Time `db:"guessed_until,changes"`
	customerID   string    `db:"customer_id,changes"` // the customer of a closed session; "" for a signatory

	Name  secret.Text // the name that the customer claims, for the provider; not stored
	spent *Session    // the session that this session will replace when Send writes it
	read  State       // the state in the database; "" if State is that state
}

// Closed reports whether the session is closed. A session is closed once its identity is proven or
// a later session has replaced it.
func (x Session) Closed() bool { return x.subject == "" }

// Config contains what a Service needs.
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

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// SealedAs names the database column to which an encrypted BVN is bound. The BVN can be decrypted
// only for this column.
const SealedAs = "identity_session.bvn"

func (x Session) place() secret.Place {
	return secret.Place{Company: x.Company, Column: SealedAs, Row: x.ID}
}

// Subjects returns the blind indexes of a BVN: keyed hashes by which Kobo finds the BVN, one for
// each secret key. Open searches for all indexes. New needs only the first index, which belongs to
// the current secret key.
func (s *Service) Subjects(company string, bvn secret.Text) []string {
	return s.Keys.BlindIndex(company, SealedAs, bvn.Reveal())
}

// New returns a new session, which is not in the database until Send writes it.
func (s *Service) New(company string, purpose Purpose, subject string, bvn secret.Text) (Session, error) {
	now := s.Clock.Now()
	x := Session{
		Company: company, ID: id.New(), Purpose: purpose, State: Pending, subject: subject, CreatedAt: now, UpdatedAt: now,
	}
	var err error
	x.bvn, err = s.Keys.Seal(x.place(), bvn.Reveal())
	return x, err
}

// BVN returns the decrypted BVN of the session, for a provider that needs the BVN again.
func (s *Service) BVN(x Session) (secret.Text, error) { return s.Keys.Open(x.place(), x.bvn) }

// About returns the session x with this BVN. If the session had a different BVN, its state and its
// OTP count are reset. OTPs to the earlier BVN therefore do not count.
func (s *Service) About(x Session, bvn secret.Text) (Session, error) {
	before, err := s.BVN(x)
	if err != nil || before.Reveal() == bvn.Reveal() {
		return x, err
	}
	x.read, x.State, x.Reference, x.count = x.State, Pending, "", count{}
	x.bvn, err = s.Keys.Seal(x.place(), bvn.Reveal())
	return x, err
}

// Find returns a session of the company by its ID, whether the session is open or closed.
func (s *Service) Find(ctx context.Context, company string, purpose Purpose, sessionID string) (Session, error) {
	return absent(s.find(ctx, company, purpose, sessionID))
}

// Open returns the company's open session with one of these subjects.
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

// Words contains the messages for the caller if the provider's reply contains no message.
type Words struct{ Sent, Failed string }

// The messages that the API contract requires for the first OTP and for a repeated OTP.
var (
	First = Words{"OTP sent", "Unable to initiate BVN"}
	Again = Words{"OTP re-sent", "Unable to retry"}
)

// Effects contains functions that add the caller's rows to the two units that Send commits for an
// OTP. Each function may be nil.
type Effects struct {
	// Begin adds rows to the unit that is committed before the call to the provider.
	Begin func(u *ledger.Unit)
	// End adds rows to the unit of the outcome. It receives the provider's message or the fault.
	End func(u *ledger.Unit, message string, err error)
}

// Send asks the provider to send an OTP. If the session already has an OTP, the earlier OTP becomes
// invalid. Send returns the changed session and the provider's message. It returns a Limited fault
// if a limit allows no OTP, and then sends none. It returns a Refused fault if the provider failed
// or did not reply. If the ledger refuses a row that Begin added, Send returns the ledger's error
// unchanged. If the Idempotency-Key is in use, Send reports this before any other refusal.
//
// Send continues even if the caller closes the connection.
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
		// The turn does not show that a concurrent request has just ended with an OTP, but the state does.
		u.Update(x.record()).Expect("state", string(cmp.Or(x.read, x.State)))
	}
	if err := idempotency.Taken(s.Book.Commit(ctx, u)); err != nil {
		return x, "", quota.Reached(x.overtaken(err), s.Clock.Now())
	}
	answer := s.ask(ctx, func(ctx context.Context) provider.Answer {
		return s.Banks.Named(x.Provider).Start(ctx, provider.IdentityStart{Reference: x.ID + "-" + turnText(x.turn), BVN: bvn, Name: x.Name})
	})
	if strings.Contains(answer.Message, bvn.Reveal()) {
		answer.Message = "" // a message should contain no personal data, but a provider might quote the BVN
	}
	return s.conclude(ctx, x, answer, w, e)
}

// routes maps each purpose to a kind of account. The bank that is configured for this kind of
// account sends the OTPs.
var routes = map[Purpose]string{Corporate: provider.CorporateAccounts, Customer: provider.CustomerAccounts}

// sender returns the name of the bank that sends the next OTP. This is the bank of the session's
// latest OTP, if that bank is still configured. Otherwise it is the bank that is configured for the
// session's purpose.
func (s *Service) sender(x Session) string {
	if x.Reference != "" && s.Banks.Named(x.Provider) != nil {
		return x.Provider
	}
	name, _ := s.Banks.For(routes[x.Purpose], x.Company)
	return name
}

// conclude writes the outcome of the provider's call to send an OTP.
func (s *Service) conclude(ctx context.Context, x Session, a provider.Answer, w Words, e Effects) (Session, string, error) {
	u := ledger.For(x.Company)
	message, why := cmp.Or(Said(a), w.Sent), error(nil)
	if a.Outcome == provider.Confirmed && a.Reference != "" {
		x.State, x.Reference, x.UpdatedAt = OTPSent, a.Reference, s.Clock.Now()
		u.Transition(x.record(), turnText(x.turn))
	} else {
		// Without the provider's session, Kobo cannot check the OTP. An unknown outcome is
		// therefore a failure for the caller, and the attempt is used.
		message, why = "", fault.New(fault.Refused, cmp.Or(Said(a), w.Failed)).With(fault.OTPNotSent)
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

// Said returns the provider's message, or "" if the provider did not reply. In that case the
// message comes from Kobo's HTTP client and must not be shown to the company.
func Said(a provider.Answer) string {
	switch a.Code {
	case provider.CodeNotSent, provider.CodeTimeout, provider.CodeConnection, provider.CodeUnreadable, provider.CodeServerError:
		return ""
	}
	return a.Message
}

// ask calls the provider with the timeout Window, and logs a reply that is not a confirmation.
func (s *Service) ask(ctx context.Context, call func(context.Context) provider.Answer) provider.Answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Window)
	defer cancel()
	a := call(ctx)
	if a.Outcome != provider.Confirmed {
		s.Log.Info("an identity was not proven", "outcome", a.Outcome.String(), "code", a.Code)
	}
	return a
}

// Proof is the proof of an identity.
type Proof struct {
	Reference string      // the provider's reference
	Holder    secret.Text // the name in the BVN's record; empty if the provider did not return it
}

// Confirm sends the OTP to the provider unchanged, and returns the proof of the identity. The
// session stays open until Close. Confirm returns a Limited fault after too many guesses, and a
// Refused fault if the OTP is wrong.
func (s *Service) Confirm(ctx context.Context, x Session, otp secret.Text) (p Proof, err error) {
	failed := fault.New(fault.Refused, "BVN OTP validation failed").With(fault.OTPInvalid)
	bank := s.Banks.Named(x.Provider)
	if x.Reference == "" || bank == nil {
		return p, failed
	}
	if err := s.Guess(ctx, x); err != nil {
		return p, err
	}
	a := s.ask(ctx, func(ctx context.Context) provider.Answer {
		said := bank.Confirm(ctx, provider.IdentityConfirm{Session: x.Reference, OTP: otp})
		p.Holder = said.Holder
		return said.Answer
	})
	if a.Outcome != provider.Confirmed || a.Reference == "" {
		return Proof{}, failed
	}
	p.Reference = a.Reference
	return p, nil
}

// Close adds a change to the unit u. The change closes the session x, whose identity is proven.
func (s *Service) Close(u *ledger.Unit, x Session) { s.end(u, x, Verified) }

// end adds a change to the unit u. The change closes the session x, with the parameter in as its
// final state.
func (s *Service) end(u *ledger.Unit, x Session, in State) {
	if x.Purpose == Customer {
		x.customerID = strings.TrimSuffix(x.subject, successor)
	}
	x.turn++ // so a concurrent request that has read the open session cannot write it any more
	x.State, x.subject, x.UpdatedAt = in, "", s.Clock.Now()
	u.Update(x.record())
}

// Overtaken reports whether the ledger refused a unit because a concurrent request had changed the
// session or the count of its OTPs.
func Overtaken(err error) bool {
	return ledger.Is(err, ledger.Moved, sessions.Table, persons.Table) || ledger.Is(err, ledger.Exists, sessions.Table, persons.Table)
}

// overtaken turns the ledger's refusal of an OTP request into a Limited fault, if a concurrent
// request has used the same attempt. After the third attempt, the next one is possible only a day
// later.
func (x Session) overtaken(err error) error {
	switch {
	case !Overtaken(err):
		return err
	case x.attempts >= most:
		return errTooMany.After(period)
	}
	return errTooSoon.After(cooldown)
}

// Until returns the time by which a provider call that begins now must have ended.
func (s *Service) Until() time.Time { return s.Clock.Now().Add(s.Window) }
