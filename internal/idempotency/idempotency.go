// Package idempotency makes a repeated request harmless: whoever sends the same
// Idempotency-Key with the same request gets the first answer again, byte for
// byte (completion.md §4.1).
//
// The use of a key is a row, inserted once in the ledger unit that makes the effect, and the
// answer is written in the unit that decides it. So there is no moment at which
// the effect is there and the key is not, whatever crashes.
package idempotency

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Answer is what was sent: the status and the body, to the byte.
type Answer struct {
	Status int
	Body   []byte
	// Secret says that the body shows a secret: it is kept sealed. After secretFor
	// it gives way to Public, which is the same without the secret.
	Secret bool
	Public []byte
}

// secretFor is how long a kept answer shows its secret: long enough for a caller
// that lost the first answer, and no treasure for a thief that comes later.
const secretFor = 10 * time.Minute

// ErrInFlight tells a caller that the same request is at work right now.
var ErrInFlight = fault.New(fault.Conflict, "Duplicate request in flight")

var errMismatch = fault.New(fault.Mismatch, "Idempotency-Key was already used with a different request")

// Key is one request's use of a key. A nil Key is a request without one: its
// methods do nothing.
type Key struct {
	company, value, fingerprint string
	print                       string // the fingerprint as the request has it
	subject                     string
	now                         time.Time
	render                      func(result any, err error) Answer
	seal                        func(body []byte) string
	begun                       atomic.Bool // this request has its intent in the book
}

// Service keeps the keys of all companies.
type Service struct {
	db    *db.DB
	book  *ledger.Book
	clock clock.Clock
	ring  *secret.Keyring
}

// NewService keeps keys in the book's database. Under the keys of the ring it
// keeps fingerprints, and seals answers that show a secret.
func NewService(d *db.DB, book *ledger.Book, c clock.Clock, ring *secret.Keyring) *Service {
	return &Service{db: d, book: book, clock: c, ring: ring}
}

// fingerprints is what the keyed hash of a fingerprint is for. A request may hold
// a PIN or a BVN, and who could read the table could try them all out on a plain
// hash.
const fingerprints = "idempotency-fingerprint"

// kept is a fingerprint as it is written down.
func (s *Service) kept(company, fingerprint string) string {
	return s.ring.MAC(fingerprints, company, fingerprint)
}

func (s *Service) same(company, kept, fingerprint string) bool {
	return s.ring.Verify(kept, fingerprints, company, fingerprint)
}

// sealed begins a body that is kept sealed; no JSON text begins so. Publicly
// comes before the same without its secret; no sealed text holds that.
const (
	sealed   = "sealed:"
	publicly = "\npublic:"
	sealedAs = "idempotency_key.body"
)

func (s *Service) sealFor(company string) func(body []byte) string {
	return func(body []byte) string {
		text, err := s.ring.Seal(company, sealedAs, string(body))
		if err != nil {
			panic("idempotency: " + err.Error()) // only without a key
		}
		return sealed + text
	}
}

// answer is the stored answer of a row. Nobody hears it before it is proven: a
// standby that takes over may not have the row.
func (s *Service) answer(ctx context.Context, company string, r row) (*Answer, error) {
	if err := s.book.Prove(ctx, company); err != nil {
		return nil, err
	}
	text, secret := strings.CutPrefix(r.Body, sealed)
	if !secret {
		return &Answer{Status: int(r.Status), Body: []byte(r.Body)}, nil
	}
	text, public, _ := strings.Cut(text, publicly)
	if public != "" && !s.clock.Now().Before(r.CreatedAt.Add(secretFor)) {
		return &Answer{Status: int(r.Status), Body: []byte(public)}, nil
	}
	body, err := s.ring.Open(company, sealedAs, text)
	return &Answer{Status: int(r.Status), Body: []byte(body.Reveal()), Secret: true}, err
}

// Use is what is known of a key that was used.
type Use struct {
	Value     string
	Subject   string  // the id of what the request made; "" when there is none
	Answer    *Answer // nil while the request is running
	CreatedAt time.Time
}

// Used tells what became of the request with a key.
func (s *Service) Used(ctx context.Context, company, value string) (Use, error) {
	r, err := s.find(ctx, company, value)
	if errors.Is(err, db.ErrNone) {
		return Use{}, fault.New(fault.Missing, "Idempotency-Key not found")
	}
	if err != nil {
		return Use{}, err
	}
	u := Use{Value: value, Subject: r.Subject, CreatedAt: r.CreatedAt}
	if r.State == done {
		u.Answer, err = s.answer(ctx, company, r)
	}
	return u, err
}

// Open begins a request with a key. It returns the stored answer if there is
// one; a fault of kind Mismatch if the key was used with another request, of
// kind Conflict if the first request is still running; else the Key to carry
// through the request.
func (s *Service) Open(ctx context.Context, company, value, fingerprint string) (*Key, *Answer, error) {
	now := s.clock.Now()
	key := &Key{company: company, value: value, fingerprint: s.kept(company, fingerprint), print: fingerprint, now: now, seal: s.sealFor(company)}
	row, err := s.find(ctx, company, value)
	switch {
	case errors.Is(err, db.ErrNone):
		return key, nil, nil
	case err != nil:
		return nil, nil, err
	case !s.same(company, row.Fingerprint, fingerprint):
		return nil, nil, errMismatch
	case row.State == done:
		answer, err := s.answer(ctx, company, row)
		return nil, answer, err
	case now.Before(row.RunningUntil):
		return nil, nil, ErrInFlight
	}
	key.subject = row.Subject // the request answers from what it made
	return key, nil, s.book.Prove(ctx, company)
}

// Value is the key itself, as the caller chose it, or "".
func (k *Key) Value() string {
	if k == nil {
		return ""
	}
	return k.value
}

// Subject is the id of what an earlier request with this key has made before it
// was cut off, or "". The request then answers from that.
func (k *Key) Subject() string {
	if k == nil {
		return ""
	}
	return k.subject
}

// Render tells the key how a result looks on the wire.
func (k *Key) Render(as func(result any, err error) Answer) {
	if k != nil {
		k.render = as
	}
}

// Begin has the first unit of a request that has more to come use the key once:
// subject is what the request makes, and until says how long the request is at work
// on it at the latest.
func (k *Key) Begin(u *ledger.Unit, subject string, until time.Time) {
	if k != nil {
		u.Insert(k.record(running, subject, until, Answer{}))
	}
}

// Answer has the only unit of a request use the key once, and store the answer.
func (k *Key) Answer(u *ledger.Unit, result any, err error) {
	if k != nil {
		u.Insert(k.record(done, "", k.now, k.render(result, err)))
	}
}

// Begun notes that the unit of Begin is in the ledger: whatever comes of the rest,
// the answer of this request is its own.
func (k *Key) Begun() {
	if k != nil {
		k.begun.Store(true)
	}
}

// Finish has the unit that decides a begun request store the answer.
func (k *Key) Finish(u *ledger.Unit, result any, err error) {
	if k != nil {
		k.begun.Store(true)
		u.Transition(k.record(done, k.subject, time.Time{}, k.render(result, err)), running).Only("status", "body")
	}
}

// Release has a begun request end without an answer that stands, since nobody knows
// yet what came of it: the same request takes it up at once, instead of waiting for
// one that runs no more.
func (k *Key) Release(u *ledger.Unit) {
	if k != nil {
		k.begun.Store(true)
		u.Transition(k.record(running, k.subject, time.Time{}, Answer{}), running).Only("running_until")
	}
}

// record is the key's row.
func (k *Key) record(state, subject string, until time.Time, a Answer) db.Record {
	return table.Record(row{k.company, k.value, k.fingerprint, state, subject, until, int64(a.Status), k.body(a), k.now})
}

// body is an answer's body as it is kept.
func (k *Key) body(a Answer) string {
	if a.Secret {
		return k.seal(a.Body) + publicly + string(a.Public)
	}
	return string(a.Body)
}

// Finish stores the answer to a begun request in a unit of its own, for when
// the deciding unit was another's. An answer that is there already stays.
func (s *Service) Finish(ctx context.Context, k *Key, result any, err error) error {
	if k == nil {
		return nil
	}
	u := ledger.For(k.company)
	k.Finish(&u, result, err)
	e := s.book.Commit(ctx, u)
	if ledger.Is(e, ledger.Moved) {
		return nil
	}
	return e
}

// Resume stores the answer to a begun request whose first try was cut off, as
// Finish does. One that is there already is another retry's: ErrInFlight.
func (k *Key) Resume(ctx context.Context, book *ledger.Book, result any) error {
	if k == nil {
		return nil
	}
	u := ledger.For(k.company)
	k.Finish(&u, result, nil)
	err := book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return ErrInFlight
	}
	return err
}

// Freeze stores an answer that no unit of a business has stored, such as a
// refusal. If the key has an answer already, that one stays.
func (s *Service) Freeze(ctx context.Context, k *Key, a Answer) error {
	if k == nil || k.subject != "" {
		return nil
	}
	u := ledger.For(k.company)
	u.Insert(k.record(done, "", k.now, a))
	err := s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Exists) {
		return nil
	}
	return err
}

// Settle gives the answer that stands for a request with a key: the stored one,
// or else this one, which Settle stores. Equal requests that run at once hear one
// answer: the first to be stored. While another request is at work nobody knows
// its answer, and this request hears ErrInFlight. Other faults are Mismatch, and
// Unavailable when nobody can tell which answer stands.
func (s *Service) Settle(ctx context.Context, k *Key, a Answer) (Answer, error) {
	stored, err := s.stored(ctx, k)
	if errors.Is(err, db.ErrNone) {
		if err = s.Freeze(ctx, k, a); err == nil {
			stored, err = s.stored(ctx, k)
		}
	}
	switch {
	case err == nil && stored != nil:
		return *stored, nil
	case fault.Is(err, fault.Mismatch):
		return Answer{}, err
	case k.begun.Load() || err == nil && k.subject != "":
		return a, nil // the key is this request's own; a later answer may follow
	case err == nil:
		return Answer{}, ErrInFlight
	}
	return Answer{}, fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
}

// stored is the stored answer of a key, nil while its request is running.
func (s *Service) stored(ctx context.Context, k *Key) (*Answer, error) {
	row, err := s.find(ctx, k.company, k.value)
	switch {
	case err != nil:
		return nil, err
	case !s.same(k.company, row.Fingerprint, k.print):
		return nil, errMismatch
	case row.State != done:
		return nil, nil
	}
	return s.answer(ctx, k.company, row)
}

// Taken turns the refusal of a unit whose key another request had taken
// meanwhile into the fault that tells the caller to ask again, and leaves other
// errors as they are.
func Taken(err error) error {
	if ledger.Is(err, ledger.Exists, table.Table) {
		return ErrInFlight
	}
	return err
}

// Answered tells whether a unit was refused because a retry has stored the answer
// to the same request meanwhile.
func Answered(err error) bool { return ledger.Is(err, ledger.Moved, table.Table) }
