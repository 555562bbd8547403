// Package operator manages the operators who run Kobo. It stores their admin keys and the
// audit log of their actions. It also stores proposals, which are acts that wait for a second
// operator.
//
// Each person has a personal key, which Kobo stores under the person's name. Kobo writes each line
// of the audit log in the same commit as the action, and never changes a line. The log holds no
// secrets.
package operator

import (
	"context"
	"encoding/json"
	"maps"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Operator is the author of an action: a person, the program or a company.
type Operator struct {
	Name    string
	Role    Role // "" for a local operator, the program and companies, which no role limits
	address string
	act     *act
	weighed *int64  // the number of the company's acts when this act was weighed (After)
	seen    *Access // the state of API access when its opening was weighed (Seeing)
	form    string  // the number of the form that asks for the action, or "" (Sending)
}

// From returns the operator with the client address of a request. The operator's audit lines
// then contain that address. The context must be that of the request.
func (o Operator) From(ctx context.Context) Operator {
	o.address = peer.Of(ctx)
	return o
}

// Sending returns the operator for the action of a form with a number. Each thing that the action makes gets an identifier that follows
// from the operator and this number. So a form that is sent twice makes it once, also after a crash, after a COMMIT of unknown fate, and at two
// programs. The number is an identifier of id.New; "" stands for no form.
func (o Operator) Sending(form string) Operator {
	o.form = form
	return o
}

// NewID returns the identifier of a new thing of a kind. A form makes at most one of each kind.
func (o Operator) NewID(kind string) string {
	if o.form == "" {
		return id.New()
	}
	return id.Derived(o.form, o.Name, kind)
}

// NewReference returns the reference of a new company in the short or the long form (id.Cuid, id.LongCuid), as NewID does.
func (o Operator) NewReference(short bool) string {
	switch {
	case o.form == "" && short:
		return id.Cuid()
	case o.form == "":
		return id.LongCuid()
	case short:
		return id.DerivedCuid(o.form, o.Name)
	}
	return id.DerivedLongCuid(o.form, o.Name)
}

// Local returns the operator for a user who runs commands on the machine itself. The name of a
// key has no colon, so it can never equal the name of a local operator.
func Local(user string) Operator { return Operator{Name: locally + user} }

const locally = "local:"

// program is Kobo itself, when it acts without a request.
var program = Operator{Name: "program:kobo"}

// Self returns the operator for a company that acts for itself, through the companies' API.
func Self(company string) Operator { return Operator{Name: "company:" + company} }

// Audit makes a unit append a line to the audit log. Details must contain no secret. If the action
// is an act of a proposal, the ledger refuses the unit if the act is done already.
func (o Operator) Audit(u *ledger.Unit, action, subject string, details map[string]string, at time.Time) {
	u.Append(o.Note(u.Company, action, subject, details, at))
	acts := int64(0)
	if o.weighed != nil {
		u.Count(actsOf, 0, *o.weighed)
		acts = *o.weighed + 1
	}
	if o.act != nil && o.act.again {
		return
	}
	u.Count(actsOf, 1, 0)
	if o.act != nil {
		u.Insert(o.act.done(u.Company, at, acts))
	}
}

// Note returns a line of the audit log as a row. The caller appends the row in the commit of the
// action. The company may be empty. Details must contain no secret.
func (o Operator) Note(company, action, subject string, details map[string]string, at time.Time) db.Record {
	said := map[string]string{}
	maps.Copy(said, details)
	if o.address != "" {
		said["clientAddress"] = o.address
	}
	if o.act != nil {
		said["proposal"], said["proposedBy"] = o.act.proposal, o.act.proposedBy
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

// Service manages the operators' keys and proposals, and reads the audit log.
type Service struct {
	// KeyLife is how long a new operator's key works. 0 means that it does not expire.
	KeyLife time.Duration

	db    *db.DB
	keys  *secret.Keyring
	clock clock.Clock

	keysSigned                atomic.Bool // a signed line says that each operator's key has the right MAC
	failures, refusals, reads traces
	personal                  prometheus.Counter // the reads of personal data
}

// New returns the service for a database.
func New(d *db.DB, keys *secret.Keyring, clk clock.Clock) *Service {
	return &Service{db: d, keys: keys, clock: clk, personal: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kobo_personal_reads_total", Help: "Reads of personal data by operators, over the admin API and at the console.",
	})}
}

// Metrics returns the metrics of the operators.
func (s *Service) Metrics() []prometheus.Collector { return []prometheus.Collector{s.personal} }

// change runs do and appends the line to the audit log, in one transaction. If do changes no
// row, change returns refusal.
func (s *Service) change(ctx context.Context, by Operator, line db.Record, refusal error, do func(q db.Querier) (int64, error)) error {
	return s.db.Tx(ctx, func(q db.Querier) error {
		n, err := do(q)
		if err != nil {
			return err
		}
		if n == 0 {
			return refusal
		}
		return s.note(ctx, q, by, line)
	})
}

// note inserts a line of the audit log in the caller's transaction. If the action is an act of a
// proposal, note returns an error if the act is done already.
func (s *Service) note(ctx context.Context, q db.Querier, by Operator, line db.Record) error {
	if by.act != nil && !by.act.again {
		n, err := insertDone(ctx, q, by.act.done("", s.clock.Now(), 0))
		if err != nil {
			return err
		}
		if n == 0 {
			return errDone
		}
	}
	return s.insertLine(ctx, q, line)
}
