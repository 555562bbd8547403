// Package operator manages the operators who run Kobo. It stores their admin keys and the
// audit log of their actions.
//
// Each person has a personal key, which Kobo stores under the person's name. Kobo writes each line
// of the audit log in the same commit as the action, and never changes a line. The log holds no
// secrets.
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

// From returns the operator with the client address of a request. The operator's audit lines
// then contain that address. The context must be that of the request.
func (o Operator) From(ctx context.Context) Operator {
	o.address = peer.Of(ctx)
	return o
}

// Local returns the operator for a user who runs commands on the machine itself. The name of a
// key has no colon, so it can never equal the name of a local operator.
func Local(user string) Operator { return Operator{Name: locally + user} }

const locally = "local:"

// program is Kobo itself, when it acts without a request.
var program = Operator{Name: "program:kobo"}

// Self returns the operator for a company that acts for itself, through the companies' API.
func Self(company string) Operator { return Operator{Name: "company:" + company} }

// Audit makes a unit append a line to the audit log. Details must contain no secret.
func (o Operator) Audit(u *ledger.Unit, action, subject string, details map[string]string, at time.Time) {
	u.Append(o.Note(u.Company, action, subject, details, at))
}

// Note returns a line of the audit log as a row. The caller appends the row in the commit of the
// action. The company may be empty. Details must contain no secret.
func (o Operator) Note(company, action, subject string, details map[string]string, at time.Time) db.Record {
	said := map[string]string{}
	maps.Copy(said, details)
	if o.address != "" {
		said["clientAddress"] = o.address
	}
	text, err := json.Marshal(said)
	if err != nil {
		panic("operator: texts that are not JSON: " + err.Error()) // JSON can write every text
	}
	return audit.Record(auditRow{
		Line: Line{Company: company, ID: id.New(), Operator: o.Name, Action: action, Subject: subject, CreatedAt: at}, Text: text,
	})
}

// SelfAudit returns the line of the audit log for an action of a company through the companies'
// API.
func SelfAudit(ctx context.Context, company, action, subject string, details map[string]string, at time.Time) db.Record {
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

// AuditFilter chooses lines of the audit log. A zero field chooses all lines. The lines of a company
// include the traces of no company whose subject is this company.
type AuditFilter struct {
	Operator, Action, Company string
	From, To                  time.Time // a line is not before From and is before To
}

// Audit returns a page of the lines of one company, or of all lines if company is "", the newest first.
// It also returns the total count.
func (s *Service) Audit(ctx context.Context, company string, limit, offset int) ([]Line, int64, error) {
	return s.SearchAudit(ctx, AuditFilter{Company: company}, limit, offset)
}

// Key describes an operator's key. Kobo stores a hash of the key, and not the key.
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

// Service manages the operators' keys and reads the audit log.
type Service struct {
	db    *db.DB
	keys  *secret.Keyring
	clock clock.Clock

	failures, reads traces
}

// New returns the service for a database.
func New(d *db.DB, keys *secret.Keyring, clk clock.Clock) *Service {
	return &Service{db: d, keys: keys, clock: clk}
}

// keyPrefix makes an operator's key easy to find in a log or a repository, where a key must
// never be.
const keyPrefix = "kobo_admin_"

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{1,63}$`)

// IssueKey issues a key to the person of this name. Kobo never shows the key again. A person has
// at most one working key, and gets a new key only after the revocation of the old one.
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

// RevokeKey revokes the working key of the person of this name.
func (s *Service) RevokeKey(ctx context.Context, by Operator, name string) error {
	line := by.Note("", "operator.key.revoke", name, nil, s.clock.Now())
	return s.change(ctx, line, fault.Newf(fault.Missing, "%s has no working key", name), func(q db.Querier) (int64, error) {
		return revokeKey(ctx, q, name)
	})
}

// change runs do and appends the line to the audit log, in one transaction. If do changes no
// row, change returns refusal.
func (s *Service) change(ctx context.Context, line db.Record, refusal error, do func(q db.Querier) (int64, error)) error {
	return s.db.Tx(ctx, func(q db.Querier) error {
		n, err := do(q)
		if err != nil {
			return err
		}
		if n == 0 {
			return refusal
		}
		return s.insertLine(ctx, q, line)
	})
}

var errWrongKey = fault.New(fault.Unauthenticated, "Invalid admin key")

// Authenticate returns the operator of a key. It compares every working key in constant time,
// so the response time reveals nothing about the keys.
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

// IsOperator reports whether a name belongs to an operator now. Such a name belongs to the owner of
// a working key, or to a user who runs commands on the machine itself.
func (s *Service) IsOperator(ctx context.Context, name string) (bool, error) {
	if strings.HasPrefix(name, locally) {
		return true, nil
	}
	keys, err := s.Keys(ctx)
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name && k.State == active }), err
}
