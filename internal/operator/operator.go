// Package operator knows the people who run Kobo: their admin keys, and the audit
// log of their actions.
//
// Each person has a key of their own, by name. Kobo writes each line of the log in
// the same commit as the action, and never changes a line. The log holds no secrets.
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
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Operator is the author of an action: a person, the program or a company.
type Operator struct {
	Name    string
	address string
}

// From adds the client address of a request to the operator's audit lines. The context
// must be that of the request.
func (o Operator) From(ctx context.Context) Operator {
	o.address = peer.Of(ctx)
	return o
}

// Local returns a person who runs commands on the machine itself. The name of a key has
// no colon, so it never equals a local name.
func Local(user string) Operator { return Operator{Name: locally + user} }

const locally = "local:"

// program is Kobo itself, acting without a request.
var program = Operator{Name: "program:kobo"}

// Self returns a company that acts for itself, through its own API.
func Self(company string) Operator { return Operator{Name: "company:" + company} }

// Audit has a unit append a line to the audit log. Details must hold nothing secret.
func (o Operator) Audit(u *ledger.Unit, action, subject string, details map[string]string, at time.Time) {
	u.Append(o.Note(u.Company, action, subject, details, at))
}

// Note returns a line of the audit log as a row, for the commit of the action to append. The
// company may be empty. Details must hold nothing secret.
func (o Operator) Note(company, action, subject string, details map[string]string, at time.Time) db.Record {
	said := map[string]string{}
	maps.Copy(said, details)
	if o.address != "" {
		said["clientAddress"] = o.address
	}
	text, err := json.Marshal(said)
	if err != nil {
		panic("operator: texts that are not JSON: " + err.Error()) // there are none
	}
	return audit.Record(auditRow{
		Line: Line{Company: company, ID: id.New(), Operator: o.Name, Action: action, Subject: subject, CreatedAt: at}, Text: text,
	})
}

// SelfNote returns the Note for an action of a company through its own API.
func SelfNote(ctx context.Context, company, action, subject string, details map[string]string, at time.Time) db.Record {
	return Self(company).From(ctx).Note(company, action, subject, details, at)
}

// Line is a line of the audit log.
type Line struct {
	Company   string `db:"company_id,key"`
	ID        string `db:"id,key"`
	Operator  string `db:"operator"`
	Action    string `db:"action"`
	Subject   string `db:"subject"`
	Details   map[string]string
	CreatedAt time.Time `db:"created_at"`
}

// Key describes an operator's key. The key itself is not kept.
type Key struct {
	ID        string
	Name      string
	hash      string
	State     string // ACTIVE or REVOKED
	CreatedAt time.Time
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

// New returns the service on a database.
func New(d *db.DB, keys *secret.Keyring, clk clock.Clock) *Service {
	return &Service{db: d, keys: keys, clock: clk}
}

// keyPrefix makes an operator's key easy to find in a log or a repository, where no
// key belongs.
const keyPrefix = "kobo_admin_"

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{1,63}$`)

// IssueKey gives the person of this name a key. Kobo shows the key only here. A
// person has one working key, and gets another after its revocation.
func (s *Service) IssueKey(ctx context.Context, by Operator, name string) (Key, secret.Text, error) {
	if !names.MatchString(name) {
		return Key{}, secret.Text{}, fault.New(fault.Invalid, `"name" must be 2 to 64 characters of a-z, 0-9, and . _ @ -`)
	}
	now := s.clock.Now()
	text := keyPrefix + secret.Random()
	k := Key{ID: id.New(), Name: name, State: active, CreatedAt: now, hash: s.keys.MAC("admin-key", text)}
	line := by.Note("", "operator.key.issue", name, map[string]string{"keyId": k.ID}, now)
	err := s.change(ctx, line, fault.Newf(fault.Refused, "%s has a working key already", name), func(q db.Querier) (int64, error) {
		return insertKey(ctx, q, k)
	})
	if err != nil {
		return Key{}, secret.Text{}, err
	}
	return k, secret.NewText(text), nil
}

// RevokeKey ends the working key of the person of this name.
func (s *Service) RevokeKey(ctx context.Context, by Operator, name string) error {
	line := by.Note("", "operator.key.revoke", name, nil, s.clock.Now())
	return s.change(ctx, line, fault.Newf(fault.Missing, "%s has no working key", name), func(q db.Querier) (int64, error) {
		return revokeKey(ctx, q, name)
	})
}

// change makes a change with its line of the audit log. A change of no row is refused.
func (s *Service) change(ctx context.Context, line db.Record, refusal error, do func(q db.Querier) (int64, error)) error {
	return s.db.Tx(ctx, func(q db.Querier) error {
		n, err := do(q)
		if err != nil {
			return err
		}
		if n == 0 {
			return refusal
		}
		return insertLine(ctx, q, line)
	})
}

var errWrongKey = fault.New(fault.Unauthenticated, "Invalid admin key")

// Authenticate finds the operator of a key. It compares every working key in
// constant time, so the time of the answer reveals nothing about the keys.
func (s *Service) Authenticate(ctx context.Context, key string) (Operator, error) {
	keys, err := s.Keys(ctx)
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

// Still reports whether a name belongs to an operator at present: the owner of a working
// key, or a person who runs commands on the machine itself.
func (s *Service) Still(ctx context.Context, name string) (bool, error) {
	if strings.HasPrefix(name, locally) {
		return true, nil
	}
	keys, err := s.Keys(ctx)
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name && k.State == active }), err
}
