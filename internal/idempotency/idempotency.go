// Package idempotency makes a repeated request harmless: the same Idempotency-Key with the
// same request gets the first answer again, byte for byte (completion.md §4.1).
//
// The use of a key is a row. The ledger unit of the effect inserts the row once, and the
// unit of the decision stores the answer. So no crash leaves an effect without its key.
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

// Answer is a response: its status and its exact body.
type Answer struct {
	Status int
	Body   []byte
	// Secret says that the body contains a secret and is stored encrypted. After secretFor,
	// Public replaces the body. Public is the body without the secret.
	Secret bool
	Public []byte
}

// secretFor is how long a stored answer shows its secret. A caller that lost the first
// answer asks again within this time, and a later thief gets no secret.
const secretFor = 10 * time.Minute

// ErrInFlight says that the same request is running.
var ErrInFlight = fault.New(fault.Conflict, "Duplicate request in flight")

var errMismatch = fault.New(fault.Mismatch, "Idempotency-Key was already used with a different request")

// Key is one request's use of a key. A request without a key has a nil Key, whose methods
// do nothing.
type Key struct {
	company, value, fingerprint string
	print                       string // the plain fingerprint of the request
	subject                     string
	now                         time.Time
	render                      func(result any, err error) Answer
	seal                        func(body []byte) string
	begun                       atomic.Bool // the ledger has the intent of this request
}

// Service stores the keys of all companies.
type Service struct {
	db    *db.DB
	book  *ledger.Book
	clock clock.Clock
	ring  *secret.Keyring
}

// NewService stores keys in the ledger's database. It uses the ring to hash fingerprints
// and to encrypt answers with a secret.
func NewService(d *db.DB, book *ledger.Book, c clock.Clock, ring *secret.Keyring) *Service {
	return &Service{db: d, book: book, clock: c, ring: ring}
}

// fingerprints is the purpose of the keyed hash. A request may contain a PIN or a BVN. With
// a plain hash, a reader of the table could try out all of them.
const fingerprints = "idempotency-fingerprint"

// hash returns a fingerprint as it is stored.
func (s *Service) hash(company, fingerprint string) string {
	return s.ring.MAC(fingerprints, company, fingerprint)
}

func (s *Service) same(company, stored, fingerprint string) bool {
	return s.ring.Verify(stored, fingerprints, company, fingerprint)
}

// sealed is the prefix of an encrypted body; no JSON text begins with it. Publicly
// separates the encrypted body from the public one; no encrypted text contains it.
const (
	sealed   = "sealed:"
	publicly = "\npublic:"
	sealedAs = "idempotency_key.body"
)

func (s *Service) sealFor(company string) func(body []byte) string {
	return func(body []byte) string {
		text, err := s.ring.Seal(company, sealedAs, string(body))
		if err != nil {
			panic("idempotency: " + err.Error()) // only if the ring has no key
		}
		return sealed + text
	}
}

// answer returns the stored answer of a row. It is not given before the ledger has proven it,
// since a standby that takes over may not have the row.
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

// Use is a used key.
type Use struct {
	Value     string
	Subject   string  // the id of the thing that the request made; "" for none
	Answer    *Answer // nil while the request is running
	CreatedAt time.Time
}

// Used returns the use of a key and its answer.
func (s *Service) Used(ctx context.Context, company, value string) (Use, error) {
	r, err := s.find(ctx, company, value)
	if err != nil {
		return Use{}, db.Missing(err, "Idempotency-Key not found")
	}
	u := Use{Value: value, Subject: r.Subject, CreatedAt: r.CreatedAt}
	if r.State == done {
		u.Answer, err = s.answer(ctx, company, r)
	}
	return u, err
}

// Open begins a request with a key. It returns the stored answer if there is one, and else
// the Key for the request. The error is a fault of kind Mismatch if the key was used with
// another request, and of kind Conflict if the first request is still running.
func (s *Service) Open(ctx context.Context, company, value, fingerprint string) (*Key, *Answer, error) {
	now := s.clock.Now()
	key := &Key{company: company, value: value, fingerprint: s.hash(company, fingerprint), print: fingerprint, now: now, seal: s.sealFor(company)}
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
	key.subject = row.Subject // the answer is made from this
	return key, nil, s.book.Prove(ctx, company)
}

// Value returns the key as the caller chose it, or "".
func (k *Key) Value() string {
	if k == nil {
		return ""
	}
	return k.value
}

// Subject returns the id of the thing that an interrupted request with this key has made, or "".
// The present request answers from that thing.
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

// Begin has the first unit of a longer request use the key once. Subject is the id of the
// thing that the request makes, and until is the latest end of the request.
func (k *Key) Begin(u *ledger.Unit, subject string, until time.Time) {
	if k != nil {
		u.Insert(k.record(running, subject, until, Answer{}))
	}
}

// Answer has the only unit of a request use the key once and store the answer.
func (k *Key) Answer(u *ledger.Unit, result any, err error) {
	if k != nil {
		u.Insert(k.record(done, "", k.now, k.render(result, err)))
	}
}

// Begun says that the unit of Begin is committed. The answer of this request stands then,
// whatever happens to the rest of the request.
func (k *Key) Begun() {
	if k != nil {
		k.begun.Store(true)
	}
}

// Finish has the deciding unit of a begun request store the answer.
func (k *Key) Finish(u *ledger.Unit, result any, err error) {
	if k != nil {
		k.begun.Store(true)
		u.Transition(k.record(done, k.subject, time.Time{}, k.render(result, err)), running).Only("status", "body")
	}
}

// Release ends a begun request without an answer, since the outcome is unknown. The same
// request can then continue at once, and does not wait for one that no longer runs.
func (k *Key) Release(u *ledger.Unit) {
	if k != nil {
		k.begun.Store(true)
		u.Transition(k.record(running, k.subject, time.Time{}, Answer{}), running).Only("running_until")
	}
}

// record returns the key's row.
func (k *Key) record(state, subject string, until time.Time, a Answer) db.Record {
	return table.Record(row{k.company, k.value, k.fingerprint, state, subject, until, int64(a.Status), k.body(a), k.now})
}

// body returns an answer's body as it is stored.
func (k *Key) body(a Answer) string {
	if a.Secret {
		return k.seal(a.Body) + publicly + string(a.Public)
	}
	return string(a.Body)
}

// Finish stores the answer to a begun request in a unit of its own, after another request
// has committed the decision. An answer that is stored already stays.
func (s *Service) Finish(ctx context.Context, k *Key, result any, err error) error {
	return k.finish(ctx, s.book, result, err, nil)
}

// Resume stores the answer to an interrupted request. If another retry has stored an
// answer already, the error is ErrInFlight.
func (k *Key) Resume(ctx context.Context, book *ledger.Book, result any) error {
	return k.finish(ctx, book, result, nil, ErrInFlight)
}

// finish stores an answer in a unit of its own. It returns stored if there is one already.
func (k *Key) finish(ctx context.Context, book *ledger.Book, result any, why, stored error) error {
	if k == nil {
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

// Freeze stores an answer that no unit of a business has stored, such as a refusal. An
// answer that is stored already stays.
func (s *Service) Freeze(ctx context.Context, k *Key, a Answer) error {
	if k == nil || k.subject != "" {
		return nil
	}
	u := ledger.For(k.company)
	u.Insert(k.record(done, "", k.now, a))
	return ledger.Except(s.book.Commit(ctx, u), ledger.Exists)
}

// Settle returns the stored answer for a key, or stores and returns this answer. So equal
// concurrent requests get one answer, the first one stored. While another request runs,
// its answer is unknown, and the error is ErrInFlight. Other errors are faults of kind
// Mismatch, and of kind Unavailable if the stored answer is unknown.
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
		return a, nil // this request has used the key; a later answer may follow
	case err == nil:
		return Answer{}, ErrInFlight
	}
	return Answer{}, fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
}

// stored returns the stored answer of a key, nil while its request is running.
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

// Taken replaces the refusal of a unit whose key another request has used meanwhile by
// ErrInFlight. Other errors stay unchanged.
func Taken(err error) error {
	if ledger.Is(err, ledger.Exists, table.Table) {
		return ErrInFlight
	}
	return err
}

// Answered reports whether a unit was refused since a retry of the same request has stored
// the answer.
func Answered(err error) bool { return ledger.Is(err, ledger.Moved, table.Table) }
