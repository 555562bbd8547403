// Package idempotency makes a repeated request harmless. If a request is repeated with its
// Idempotency-Key, it gets the first response again, byte for byte (completion.md §4.1).
//
// Each used Idempotency-Key is a row. The ledger unit that books the request's effect also inserts
// this row. The unit that decides the outcome also stores the response. So no crash leaves an
// effect without its Idempotency-Key.
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
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Answer is a stored response with its status and its exact body.
type Answer struct {
	Status int
	Body   []byte
	Reason fault.Reason // the word of the header Kobo-Reason; "" for none
	// Secret is true if the body contains a secret. The body is then stored encrypted. Public is
	// the body without the secret, and replaces the body after secretFor.
	Secret bool
	Public []byte
	// Passing is true for a refusal that only says that the outcome of an earlier request is not
	// known yet. Settle does not store it under the key of a request that has begun nothing.
	Passing bool
}

// secretFor is how long a stored response shows its secret. A caller that lost the first response
// can repeat the request within this time. Afterwards, even a thief of the Idempotency-Key gets no
// secret. A response from the future shows none either, because the clock was ahead then. The clocks
// of two programs may differ by skew.
const secretFor, skew = 10 * time.Minute, time.Minute

// ErrInFlight reports that the same request is still running.
var ErrInFlight = fault.New(fault.Conflict, "Duplicate request in flight")

var errMismatch = fault.New(fault.Mismatch, "Idempotency-Key was already used with a different request")

// Key is the use of an Idempotency-Key by one request. A request without an Idempotency-Key has a
// nil Key, whose methods do nothing.
type Key struct {
	company, value, fingerprint string
	print                       string // the fingerprint of the request before it is hashed
	subject                     string
	now                         time.Time
	render                      func(result any, err error) Answer
	seal                        func(body []byte) string
	used                        time.Time              // when the Idempotency-Key was used, if its stored response has been removed
	begun                       atomic.Bool            // true when the ledger has committed the intent of this request
	stored                      atomic.Pointer[Answer] // the response that a committed unit of this request has stored
}

// Service stores the Idempotency-Keys of all companies.
type Service struct {
	db    *db.DB
	book  *ledger.Book
	clock clock.Clock
	ring  *secret.Keyring
	sweep job.Sweep[string] // the way of the ClearJob through the companies
}

// NewService returns a service that stores Idempotency-Keys in the ledger's database. It uses the
// ring to hash fingerprints and to encrypt responses that contain a secret.
func NewService(d *db.DB, book *ledger.Book, c clock.Clock, ring *secret.Keyring) *Service {
	return &Service{db: d, book: book, clock: c, ring: ring, sweep: job.Sweep[string]{Limit: clearLimit}}
}

// fingerprints is the purpose of the keyed hash. A request may contain a PIN or a BVN. With a plain
// hash, a reader of the table could find the PIN or BVN by trying all possible values.
const fingerprints = "idempotency-fingerprint"

// hash returns the keyed hash of a fingerprint, as the row stores it.
func (s *Service) hash(company, fingerprint string) string {
	return s.ring.MAC(fingerprints, company, fingerprint)
}

func (s *Service) same(company, stored, fingerprint string) bool {
	return s.ring.Verify(stored, fingerprints, company, fingerprint)
}

// sealed is the prefix of an encrypted body. No JSON text begins with this prefix. Publicly
// separates the encrypted body from the public body. No encrypted text contains this separator.
const (
	sealed   = "sealed:"
	publicly = "\npublic:"
	sealedAs = "idempotency_key.body"
)

func place(company, value string) secret.Place {
	return secret.Place{Company: company, Column: sealedAs, Row: value}
}

func (s *Service) sealFor(company, value string) func(body []byte) string {
	return func(body []byte) string {
		text, err := s.ring.Seal(place(company, value), string(body))
		if err != nil {
			panic("idempotency: " + err.Error()) // this happens only if the ring has no key
		}
		return sealed + text
	}
}

// answer returns the stored response of a row. It first waits until the standby has the row
// (ledger.Book.Prove). Otherwise a standby that takes over could lack a response that a caller has
// received.
func (s *Service) answer(ctx context.Context, company string, r row) (*Answer, error) {
	if err := s.book.Prove(ctx, company); err != nil {
		return nil, err
	}
	text, isSecret := strings.CutPrefix(r.Body, sealed)
	if !isSecret {
		return &Answer{Status: int(r.Status), Body: []byte(r.Body), Reason: fault.Reason(r.Reason)}, nil
	}
	text, public, _ := strings.Cut(text, publicly)
	if age := s.clock.Now().Sub(r.CreatedAt); public != "" && (age >= secretFor || age < -skew) {
		return &Answer{Status: int(r.Status), Body: []byte(public)}, nil
	}
	body, err := s.ring.Open(place(company, r.Value), text)
	return &Answer{Status: int(r.Status), Body: []byte(body.Reveal()), Secret: true}, err
}

// Use is a used Idempotency-Key.
type Use struct {
	Value     string
	Subject   string  // the ID of the object that the request created; "" if there is none
	Answer    *Answer // the stored response; nil while the request is running; its Body is nil after keep
	CreatedAt time.Time
}

// Used returns the use of an Idempotency-Key and its stored response, also for a request that only reads.
func (s *Service) Used(ctx context.Context, company, value string) (Use, error) {
	r, err := s.find(db.Deciding(ctx), company, value)
	if err != nil {
		return Use{}, db.Missing(err, "Idempotency-Key not found")
	}
	u := Use{Value: value, Subject: r.Subject, CreatedAt: r.CreatedAt}
	switch {
	case r.removed():
		u.Answer = &Answer{Status: int(r.Status)}
	case r.State == done:
		u.Answer, err = s.answer(ctx, company, r)
	}
	return u, err
}

// Open begins a request with an Idempotency-Key. If a response is stored, Open returns it.
// Otherwise Open returns a Key for the request. The error is a fault of kind Mismatch if a
// different request used the Idempotency-Key. It is a fault of kind Conflict if the request that
// used the Idempotency-Key first is still running. If the stored response has been removed, the
// Key is expired, and the request must not be executed (Key.Expired).
func (s *Service) Open(ctx context.Context, company, value, fingerprint string) (*Key, *Answer, error) {
	key := s.Unread(company, value, fingerprint)
	row, err := s.find(ctx, company, value)
	switch {
	case errors.Is(err, db.ErrNone):
		return key, nil, nil
	case err != nil:
		return nil, nil, err
	case !s.same(company, row.Fingerprint, fingerprint):
		return nil, nil, errMismatch
	case row.removed():
		key.used = row.CreatedAt
	case row.State == done:
		answer, err := s.answer(ctx, company, row)
		return nil, answer, err
	case key.now.Before(row.RunningUntil):
		return nil, nil, s.inFlight(ctx, key, row)
	}
	key.subject = row.Subject // the response is made from this object
	return key, nil, s.book.Prove(ctx, company)
}

// Unread returns a Key like Open, but does not look whether the Idempotency-Key was used before. The
// ledger then refuses the unit of Begin or Answer. After a request that has committed nothing, the
// caller must call Open.
func (s *Service) Unread(company, value, fingerprint string) *Key {
	return &Key{
		company: company, value: value, fingerprint: s.hash(company, fingerprint), print: fingerprint,
		now: s.clock.Now(), seal: s.sealFor(company, value),
	}
}

// Committed reports whether the ledger has committed a unit of this request with its
// Idempotency-Key.
func (k *Key) Committed() bool { return k.begun.Load() || k.stored.Load() != nil }

// Value returns the Idempotency-Key as the caller sent it, or "".
func (k *Key) Value() string {
	if k == nil {
		return ""
	}
	return k.value
}

// Subject returns the ID of the object that an interrupted request with this Idempotency-Key
// created, or "". The present request makes its response from that object.
func (k *Key) Subject() string {
	if k == nil {
		return ""
	}
	return k.subject
}

// Expired returns nil, unless the stored response of the Idempotency-Key has been removed. Then the
// request must not be executed again. It gets a response made from the object Subject. If there is
// no such object, it gets the fault that Expired returns.
func (k *Key) Expired() error {
	if k == nil || k.used.IsZero() {
		return nil
	}
	return fault.New(fault.Mismatch, "Idempotency-Key was used on "+k.used.In(clock.Lagos).Format(time.DateOnly)).With(fault.IdempotencyKeyUsed)
}

// Render sets the function that turns a result or an error into a response.
func (k *Key) Render(as func(result any, err error) Answer) {
	if k != nil {
		k.render = as
	}
}

// Begin makes the first unit of a longer request also insert the row of the Idempotency-Key.
// Subject is the ID of the object that the request creates. Until is the latest time at which the
// request ends. Once the unit is committed, the response of this request is valid, whatever happens
// to the rest of the request.
func (k *Key) Begin(u *ledger.Unit, subject string, until time.Time) {
	if k != nil {
		u.Insert(k.record(running, subject, until, Answer{}))
		u.Then(func() { k.begun.Store(true) })
	}
}

// Answer makes the only unit of a request also insert the row of the Idempotency-Key, with the
// response.
func (k *Key) Answer(u *ledger.Unit, result any, err error) {
	if k != nil {
		a := k.render(result, err)
		u.Insert(k.record(done, "", k.now, a))
		u.Then(func() { k.stored.Store(&a) })
	}
}

// Finish makes the unit u also store the response. The unit u decides the outcome of a request for
// which Begin was called. A response that Clear has removed is not stored again.
func (k *Key) Finish(u *ledger.Unit, result any, err error) {
	if k != nil && k.Expired() == nil {
		a := k.render(result, err)
		u.Transition(k.record(done, k.subject, time.Time{}, a), running).Only("status", "body", "reason")
		u.Then(func() { k.stored.Store(&a) })
	}
}

// Release ends a request for which Begin was called, without a response, because the outcome is
// unknown. A repeated request can then continue immediately. Otherwise it would have to wait until
// the time limit that Begin has set.
func (k *Key) Release(u *ledger.Unit) {
	if k != nil {
		u.Transition(k.record(running, k.subject, time.Time{}, Answer{}), running).Only("running_until")
	}
}

// record returns the row of the Idempotency-Key.
func (k *Key) record(state, subject string, until time.Time, a Answer) db.Record {
	return table.Record(row{k.company, k.value, k.fingerprint, state, subject, until, int64(a.Status), k.body(a), k.now, string(a.Reason)})
}

// body returns the body of a response as the row stores it.
func (k *Key) body(a Answer) string {
	if a.Secret {
		return k.seal(a.Body) + publicly + string(a.Public)
	}
	return string(a.Body)
}

// Finish stores the response to a request for which Key.Begin was called. It commits a separate
// unit that contains only the response, because the outcome was committed earlier without the
// response. For example, the program may have stopped between the two commits. A response that is
// stored already does not change.
func (s *Service) Finish(ctx context.Context, k *Key, result any, err error) error {
	return k.finish(ctx, s.book, result, err, nil)
}

// Resume stores the response to a request that was interrupted and is now repeated. If a different
// repetition has stored a response already, Resume returns ErrInFlight.
func (k *Key) Resume(ctx context.Context, book *ledger.Book, result any) error {
	return k.finish(ctx, book, result, nil, ErrInFlight)
}

// finish stores a response in a separate unit. If a response is stored already, finish returns its
// parameter stored as the error. It does the same if no unit of Begin was committed, and Settle then
// stores the response.
func (k *Key) finish(ctx context.Context, book *ledger.Book, result any, why, stored error) error {
	if k == nil || k.Expired() != nil {
		return nil
	}
	u := ledger.For(k.company)
	k.Finish(&u, result, why)
	err := book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return stored
	}
	return err
}

// Freeze stores a response, such as a refusal, that no unit of another package has stored. A
// response that is stored already does not change.
func (s *Service) Freeze(ctx context.Context, k *Key, a Answer) error {
	if k == nil || k.subject != "" {
		return nil
	}
	u := ledger.For(k.company)
	u.Insert(k.record(done, "", k.now, a))
	u.Then(func() { k.stored.Store(&a) })
	return ledger.Except(s.book.Commit(ctx, u), ledger.Exists)
}

// Settle returns the stored response of an Idempotency-Key. If there is none, Settle stores the
// response a and returns it. So equal concurrent requests all get the response that was stored
// first. While the request that used the Idempotency-Key first is still running, its response is
// unknown, and the error is ErrInFlight. The error is a fault of kind Mismatch if a different
// request used the Idempotency-Key. It is a fault of kind Unavailable if the stored response cannot
// be read.
//
// Settle reads the stored response only if this request has not stored it.
func (s *Service) Settle(ctx context.Context, k *Key, a Answer) (Answer, error) {
	if k.Expired() != nil {
		return a, nil
	}
	var err error
	if !k.Committed() && !a.Passing {
		err = s.Freeze(ctx, k, a)
	}
	stored := k.stored.Load()
	if stored == nil && err == nil {
		stored, err = s.stored(ctx, k)
	}
	switch {
	case a.Passing && errors.Is(err, db.ErrNone): // nobody has used the Idempotency-Key, and it stays free
		return a, nil
	case err == nil && stored != nil:
		return *stored, nil
	case fault.Is(err, fault.Mismatch):
		return Answer{}, err
	case k.begun.Load() || err == nil && k.subject != "":
		return a, nil // this request has used the Idempotency-Key; its final response may be stored later
	case err == nil:
		return Answer{}, ErrInFlight
	}
	return Answer{}, fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
}

// stored returns the stored response of an Idempotency-Key, or nil while its request is running.
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

// Taken replaces an error with ErrInFlight if the unit was refused because another request has used
// the Idempotency-Key meanwhile. Other errors stay unchanged.
func Taken(err error) error {
	if ledger.Is(err, ledger.Exists, table.Table) {
		return ErrInFlight
	}
	return err
}

// Answered reports whether a unit was refused because a retry of the same request has already
// stored the response.
func Answered(err error) bool { return ledger.Is(err, ledger.Moved, table.Table) }
