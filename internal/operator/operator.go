// Package operator knows the people who run Kobo: the keys they prove
// themselves with, and the log of what they did.
//
// Each person has a key of their own, by name. The log is append-only and is
// written in the same commit as what it tells of: nothing is done that is not in
// it, and nothing is in it that was not done. It holds no secrets.
package operator

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Operator is who does something.
type Operator struct {
	Name    string
	address string
}

// From is the operator whose request the context is of: their lines say from which
// address it came.
func (o Operator) From(ctx context.Context) Operator {
	o.address = peer.Of(ctx)
	return o
}

// Local is whoever runs a command on the machine itself. A key's name holds no
// colon, so nobody with a key is taken for them.
func Local(user string) Operator { return Operator{Name: locally + user} }

const locally = "local:"

// program is Kobo itself, of its own accord.
var program = Operator{Name: "program:kobo"}

// Self is the company acting for itself, through its own API.
func Self(company string) Operator { return Operator{Name: "company:" + company} }

// Note is a line of the audit log, to be written with what it tells of. The
// company may be empty. Details must hold nothing secret.
func (o Operator) Note(company, action, subject string, details map[string]string, at time.Time) db.Record {
	said := map[string]string{}
	maps.Copy(said, details)
	if o.address != "" {
		said["clientAddress"] = o.address
	}
	b, err := json.Marshal(said)
	if err != nil {
		panic("operator: texts that are not JSON: " + err.Error()) // there are none
	}
	return db.Record{Table: auditTable, Values: []any{
		company, id.New(), o.Name, action, subject, string(b), clock.Micros(at),
	}}
}

// SelfNote is the line for what a company does itself.
func SelfNote(ctx context.Context, company, action, subject string, details map[string]string, at time.Time) db.Record {
	return Self(company).From(ctx).Note(company, action, subject, details, at)
}

// Line is a line of the audit log.
type Line struct {
	ID        string
	Company   string
	Operator  string
	Action    string
	Subject   string
	Details   map[string]string
	CreatedAt time.Time
}

// Key is what is known of an operator's key once it has been handed over.
type Key struct {
	ID        string
	Name      string
	State     string // ACTIVE or REVOKED
	CreatedAt time.Time
	hash      string
}

const (
	active  = "ACTIVE"
	revoked = "REVOKED"
)

// Service keeps the keys and reads the log.
type Service struct {
	db    *db.DB
	keys  *secret.Keyring
	clock clock.Clock
}

// New is the service on a database.
func New(d *db.DB, keys *secret.Keyring, clk clock.Clock) *Service {
	return &Service{db: d, keys: keys, clock: clk}
}

// keyPrefix makes an operator's key recognisable where it should not be.
const keyPrefix = "kobo_admin_"

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{1,63}$`)

// IssueKey gives the person of this name a key, shown this once. A person has
// one working key: whoever has one gets another after it was revoked.
func (s *Service) IssueKey(ctx context.Context, by Operator, name string) (Key, secret.Text, error) {
	if !names.MatchString(name) {
		return Key{}, secret.Text{}, fault.New(fault.Invalid, `"name" must be 2 to 64 characters of a-z, 0-9, and . _ @ -`)
	}
	now := s.clock.Now()
	text := keyPrefix + secret.Random()
	k := Key{ID: id.New(), Name: name, State: active, CreatedAt: now, hash: s.keys.MAC("admin-key", text)}
	err := s.db.Tx(ctx, func(q db.Querier) error {
		n, err := insertKey(ctx, q, k)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Newf(fault.Refused, "%s has a working key already", name)
		}
		return insertLine(ctx, q, by.Note("", "operator.key.issue", name, map[string]string{"keyId": k.ID}, now))
	})
	if err != nil {
		return Key{}, secret.Text{}, err
	}
	return k, secret.NewText(text), nil
}

// RevokeKey ends the working key of the person of this name.
func (s *Service) RevokeKey(ctx context.Context, by Operator, name string) error {
	return s.db.Tx(ctx, func(q db.Querier) error {
		n, err := revokeKey(ctx, q, name)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Newf(fault.Missing, "%s has no working key", name)
		}
		return insertLine(ctx, q, by.Note("", "operator.key.revoke", name, nil, s.clock.Now()))
	})
}

// Keys are all keys, the oldest first.
func (s *Service) Keys(ctx context.Context) ([]Key, error) { return s.findKeys(ctx) }

var errWrongKey = fault.New(fault.Unauthenticated, "Invalid admin key")

// Authenticate tells whose key this is. Every working key is compared, each in
// constant time, so the answer's time tells nothing about any of them.
func (s *Service) Authenticate(ctx context.Context, key string) (Operator, error) {
	keys, err := s.findKeys(ctx)
	if err != nil {
		return Operator{}, err
	}
	var who Operator
	for _, k := range keys {
		if k.State == active && s.keys.Verify(k.hash, "admin-key", key) {
			who.Name = k.Name
			if s.keys.Stale(k.hash) {
				err = s.rehashKey(ctx, k, s.keys.MAC("admin-key", key))
			}
		}
	}
	if err != nil {
		return Operator{}, err
	}
	if who.Name == "" {
		return Operator{}, errWrongKey
	}
	return who, nil
}

// Still tells whether somebody of this name is an operator: has a working key, or
// runs commands on the machine itself.
func (s *Service) Still(ctx context.Context, name string) (bool, error) {
	if strings.HasPrefix(name, locally) {
		return true, nil
	}
	keys, err := s.findKeys(ctx)
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name && k.State == active }), err
}

// Audit is limit lines of the log after the first offset, the newest first, and
// how many there are in all: of one company, or of all for "".
func (s *Service) Audit(ctx context.Context, company string, limit, offset int) ([]Line, int64, error) {
	total, err := s.countLines(ctx, company)
	if err != nil {
		return nil, 0, err
	}
	lines, err := s.lines(ctx, company, limit, offset)
	return lines, total, err
}
