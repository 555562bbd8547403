package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// Story is what Kobo has recorded about one payment or one act, with its steps in the order of time.
// What the thing does not have is "" or zero.
type Story struct {
	// Kind is payout, vtu, card, credit, customer credit, collection, adjustment, transfer, case, event,
	// proposal, request, deposit, withdrawal, bulk payout or approval.
	Kind               string
	Reference, Company string
	State              string // as the thing stores it, such as PENDING
	// Word is what the state of an operation means: sending, accepted, unknown, case, paid, failed or reversed.
	Word              string
	Doubt             operation.Doubt
	Amount, Fee       money.Kobo
	Counterparty      string // the beneficiary, the sender, or what was bought; long numbers are masked
	Provider          string
	ProviderReference string // of a deposit the hash of the transaction, whose Provider is the network
	SessionID         string // of money that came in
	OwnReference      string // the company's own reference
	Mate              string // the credit that has paid a virtual account, or the virtual account on which a credit has arrived
	AssignedTo        string // the credit of the company to which operators have assigned this credit of an unknown owner
	Belongings
	CreatedAt time.Time
	// Clock is how a PENDING operation is followed. It is nil for everything else.
	Clock *OutcomeClock
	Cases []operation.Case // oldest first
	Steps []Step
}

// OutcomeClock says how the outcome of a PENDING operation is asked for.
type OutcomeClock struct {
	Attempts    int64     // the number of the times at which the provider was asked after the first call
	LastAskedAt time.Time // zero before the first of them
	NextAt      time.Time // zero if nothing is planned, because operators decide
	GraceEndsAt time.Time // until then "no such reference" is no rejection
	CaseDueAt   time.Time // from then on operators decide
}

// Timeline returns the story of a payout, purchase, card funding, credit, collection, adjustment,
// transfer between settlement accounts, case, event, proposal, bulk payout or approval by its id. It also accepts the session ID
// of money that came in. The id of a case or an event returns the story of its payment, if there is one.
// An unknown reference is a fault of the kind Missing.
func (s *Service) Timeline(ctx context.Context, reference string) (Story, error) {
	var out Story
	err := s.db.Snapshot(ctx, func(q db.Querier) error {
		at, err := find(ctx, q, reference)
		if err == nil {
			out, err = s.story(ctx, q, at)
		}
		return err
	})
	return out, err
}

// story reads what a place has, and adds its steps.
func (s *Service) story(ctx context.Context, q db.Querier, at place) (Story, error) {
	switch at.kind {
	case "case":
		return s.caseStory(ctx, q, at)
	case "event":
		return s.eventStory(ctx, q, at)
	case "proposal":
		return proposalStory(ctx, q, at)
	case "operation":
		return s.operationStory(ctx, q, at)
	case "request":
		return s.requestStory(ctx, q, at)
	case "deposit":
		return depositStory(ctx, q, at)
	case "bulk payout":
		return bulkStory(ctx, q, at)
	case "approval":
		return approvalStory(ctx, q, at)
	}
	out, own, err := titleOf(ctx, q, at)
	if err != nil {
		return Story{}, err
	}
	ids, own, err := out.pair(ctx, q, at, own)
	if err != nil {
		return Story{}, err
	}
	subject := at.id
	if out.SessionID != "" {
		subject = out.Provider + "/" + out.SessionID // as in cases
	}
	if err := out.gather(ctx, q, ids, subject, own); err != nil {
		return Story{}, err
	}
	customers, err := customersOf(ctx, q, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	out.Customer = strings.Join(customers, "")
	return out, out.follow(ctx, q)
}

// follow finds the credit of the company to which operators have assigned money of an unknown owner: a credit in suspense, or a line that
// only the bank's statement has.
func (y *Story) follow(ctx context.Context, q db.Querier) error {
	n := slices.IndexFunc(y.Cases, func(c operation.Case) bool { return c.State == operation.Resolved && c.Outcome == operation.Assigned })
	if n < 0 || y.Company == y.Cases[n].Target {
		return nil
	}
	if y.Kind == "credit" {
		y.State = "ASSIGNED"
	}
	bank, session, _ := strings.Cut(y.Cases[n].Subject, "/")
	credits, err := db.All(ctx, q, db.Value[string], `SELECT id FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3`,
		y.Cases[n].Target, bank, session)
	y.AssignedTo = strings.Join(credits, "")
	return err
}

func (s *Service) operationStory(ctx context.Context, q db.Querier, at place) (Story, error) {
	o, err := db.One(ctx, q, operation.Scan,
		`SELECT `+operation.Columns+` FROM operation WHERE operation.company_id = $1 AND operation.id = $2`, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	out := Story{
		Kind: o.Kind, Reference: o.ID, Company: o.Company, State: string(o.State), Amount: o.Amount, Fee: o.Fee,
		Provider: o.Provider, ProviderReference: o.ProviderReference, CreatedAt: o.CreatedAt,
	}
	if o.State == operation.Pending {
		out.Clock = &OutcomeClock{o.Polls, o.AskedAt, o.NextAt, o.GraceEnds(), o.CaseDue()}
	}
	own, err := db.All(ctx, q, db.Value[string], `SELECT external_reference FROM operation_label WHERE company_id = $1 AND id = $2`, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	out.OwnReference = strings.Join(own, "")
	others, err := db.All(ctx, q, db.Value[string], `
		SELECT account_name || ', ' || account_number || ', ' || bank_name FROM payout_verification WHERE company_id = $1 AND id = $2
		UNION ALL SELECT `+bought+` || ', ' || phone_number || card_number || meter_number FROM vtu_purchase WHERE company_id = $1 AND id = $2
		UNION ALL SELECT 'card ' || card_id FROM card_funding WHERE company_id = $1 AND id = $2`, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	out.Counterparty = MaskText(strings.Join(others, ""))
	if out.Belongings, err = belongings(ctx, q, at.company, at.id, s.clock.Now()); err != nil {
		return Story{}, err
	}
	began, err := bulkSteps(ctx, q, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	if err := out.gather(ctx, q, []string{at.id}, at.id, began); err != nil {
		return Story{}, err
	}
	out.Word = wordOf(o, out.Cases, s.clock.Now())
	doubts, err := operation.Doubts(ctx, q, at.company, []string{at.id})
	out.Doubt = doubts[at.id]
	return out, err
}

// wordOf returns what the state of an operation means to a reader. "Pending" would hide whether the
// outcome is unknown.
func wordOf(o operation.Operation, cases []operation.Case, now time.Time) string {
	switch o.State {
	case operation.Success:
		return "paid"
	case operation.Failed:
		return "failed"
	case operation.Reversed:
		return "reversed"
	case operation.Pending:
	}
	if slices.ContainsFunc(cases, func(c operation.Case) bool { return c.State == operation.Open }) {
		return "case"
	}
	if o.InFlight(now) && o.Outcome == "" {
		return "sending"
	}
	if operation.IsAccepted(o.Kind, o.Outcome, o.Code) {
		return "accepted"
	}
	return "unknown"
}

// titleOf returns the title of what is neither an operation nor an act, and its own steps.
func titleOf(ctx context.Context, q db.Querier, at place) (Story, []Step, error) {
	type title struct {
		amount                                                  money.Kobo
		state, other, bank, provider, reference, session, label string
		created                                                 time.Time
	}
	t, err := db.One(ctx, q, db.Fields[title], `
		SELECT amount_kobo, CASE WHEN settlement_id = 0 THEN 'SUSPENSE' ELSE 'SUCCESS' END,
			CASE WHEN sender_name = '' THEN sender_account WHEN sender_account = '' THEN sender_name ELSE sender_name || ', ' || sender_account END,
			sender_bank, provider, reference, session_id, '', created_at FROM settlement_credit WHERE company_id = $1 AND id = $2 AND $3 = 'credit'
		UNION ALL SELECT amount_kobo, state, account_name || ', ' || account_number || ', ' || bank_name, '',
			provider, reference, '', external_reference, created_at FROM collection WHERE company_id = $1 AND id = $2 AND $3 = 'collection'
		UNION ALL SELECT amount_kobo, `+endedAdjustment+`, direction || ' by ' || created_by, '',
			'', '', '', '', created_at FROM settlement_adjustment WHERE company_id = $1 AND id = $2 AND $3 = 'adjustment'
		UNION ALL SELECT amount_kobo, 'SUCCESS', 'between settlement accounts', '',
			'', '', '', '', created_at FROM settlement_transfer WHERE company_id = $1 AND id = $2 AND $3 = 'transfer'
		UNION ALL SELECT amount_kobo, status, 'customer ' || customer_id, '',
			'', '', '', '', created_at FROM customer_transaction WHERE company_id = $1 AND id = $2 AND $3 = 'customer credit'`, at.company, at.id, at.kind)
	if err != nil {
		return Story{}, nil, err
	}
	bank, err := bankWithCode(ctx, q, t.bank)
	if err != nil {
		return Story{}, nil, err
	}
	other := strings.TrimPrefix(strings.TrimSuffix(t.other+", "+bank, ", "), ", ")
	out := Story{
		Kind: at.kind, Reference: at.id, Company: at.company, State: t.state, Amount: t.amount, Counterparty: MaskText(other),
		Provider: t.provider, ProviderReference: t.reference, SessionID: t.session, OwnReference: t.label, CreatedAt: t.created,
	}
	text := fmt.Sprintf("%s of %s naira", at.kind, t.amount.Decimal())
	if t.session != "" {
		text += ", session " + t.session + " at " + t.provider
	}
	return out, []Step{{At: t.created, What: "intent", Text: text}}, nil
}

// gather adds the steps that rows about some references have, and the cases about a subject.
func (y *Story) gather(ctx context.Context, q db.Querier, references []string, subject string, own []Step) error {
	cases, err := db.All(ctx, q, operation.ScanCase, `SELECT `+operation.CaseColumns+` FROM operation_case
		WHERE company_id = $1 AND subject = $2 ORDER BY created_at, id`, y.Company, subject)
	if err != nil {
		return err
	}
	y.Cases, y.Steps = cases, own
	for _, reference := range references {
		about := operation.Case{Company: y.Company, ID: reference, Subject: reference, CreatedAt: time.Unix(0, 0)}
		for _, part := range []part{requestSteps, intent, attemptSteps, answers, transferSteps, auditSteps} {
			steps, err := part(ctx, q, about, reference)
			if err != nil {
				return err
			}
			y.Steps = append(y.Steps, steps...)
		}
	}
	for _, reference := range references {
		told, err := eventsAround(ctx, q, y.Company, reference, y.Steps)
		if err != nil {
			return err
		}
		for _, step := range told {
			if !isTold(y.Steps, step.Event) {
				y.Steps = append(y.Steps, step)
			}
		}
	}
	for _, c := range cases {
		steps, err := auditSteps(ctx, q, c, "")
		if err != nil {
			return err
		}
		y.Steps = append(append(y.Steps, Step{At: c.CreatedAt, What: "case", Text: string(c.Reason) + ": " + MaskText(c.Detail)}), steps...)
	}
	return y.finish(ctx, q)
}

// finish adds the deliveries of the events, and orders the steps.
func (y *Story) finish(ctx context.Context, q db.Querier) error {
	var events []string
	for _, s := range y.Steps {
		if s.event != "" {
			events = append(events, s.event)
		}
	}
	sent, err := deliverySteps(ctx, q, y.Company, events)
	y.Steps = append(y.Steps, sent...)
	slices.SortStableFunc(y.Steps, func(a, b Step) int {
		return cmp.Or(a.At.Compare(b.At), slices.Index(whats, a.What)-slices.Index(whats, b.What))
	})
	y.Steps = folded(y.Steps)
	return err
}

// whats are the kinds of steps, in the order in which steps of one instant are shown.
var whats = []string{"request", "approval", "intent", "transfer", "attempt", "answer", "state", "event", "delivery", "case", "audit", "next"}

// Lane returns the lane of the timeline in which the step is shown: request, money, provider, told or
// people.
func (s Step) Lane() string {
	switch s.What {
	case "request", "intent":
		return "request"
	case "transfer":
		return "money"
	case "event", "delivery":
		return "told"
	case "case", "approval", "audit":
		return "people"
	}
	return "provider"
}

// caseStory returns the story of the payment that a case is about. A case about something else has a
// story of its own.
func (s *Service) caseStory(ctx context.Context, q db.Querier, at place) (Story, error) {
	c, err := db.One(ctx, q, operation.ScanCase, `SELECT `+operation.CaseColumns+` FROM operation_case WHERE company_id = $1 AND id = $2`, at.company, at.id)
	if err != nil {
		return Story{}, err
	}
	subject, err := subjectOf(ctx, q, c)
	if err != nil {
		return Story{}, err
	}
	if of, err := ownPlace(ctx, q, at.company, subject); err == nil {
		return s.story(ctx, q, of)
	} else if !errors.Is(err, db.ErrNone) {
		return Story{}, err
	}
	out := Story{
		Kind: "case", Reference: c.ID, Company: c.Company, State: string(c.State), Amount: c.Amount, CreatedAt: c.CreatedAt,
		Counterparty: MaskText(c.Detail),
	}
	if err := out.gather(ctx, q, []string{subject}, c.Subject, nil); err != nil {
		return Story{}, err
	}
	return out, out.follow(ctx, q)
}

// eventStory returns the story of the payment that an event tells of: the first text in the event's
// data, among reference, transactionReference and id, that names one. Another event has a story of its own.
func (s *Service) eventStory(ctx context.Context, q db.Querier, at place) (Story, error) {
	type event struct {
		sequence   int64
		kind, data string
		created    time.Time
	}
	sequence, _ := id.Number(at.id) // eventPlaces has found it by this number
	e, err := db.One(ctx, q, db.Fields[event], `SELECT sequence, kind, data, created_at FROM event
		WHERE company_id = $1 AND sequence = $2 AND id = $3`, at.company, sequence, at.id)
	if err != nil {
		return Story{}, err
	}
	data := map[string]any{}
	if json.Unmarshal([]byte(unpacked(e.data)), &data) == nil { // data that is no object names nothing
		for _, name := range []string{"reference", "transactionReference", "id"} {
			named, isText := data[name].(string)
			if !isText {
				continue
			}
			of, err := ownPlace(ctx, q, at.company, named)
			if err == nil {
				return s.story(ctx, q, of)
			}
			if !errors.Is(err, db.ErrNone) {
				return Story{}, err
			}
		}
	}
	out := Story{Kind: "event", Reference: at.id, Company: at.company, State: e.kind, CreatedAt: e.created}
	out.Steps = []Step{{At: e.created, What: "event", Event: e.sequence, event: at.id, Text: fmt.Sprintf("%s, number %d", e.kind, e.sequence)}}
	return out, out.finish(ctx, q)
}

// proposalStory returns the story of a proposal. Its acts have lines of their own in the audit log.
func proposalStory(ctx context.Context, q db.Querier, at place) (Story, error) {
	type proposal struct {
		state, by, decided, note    string
		created, expires, decidedAt time.Time
	}
	p, err := db.One(ctx, q, db.Fields[proposal], `SELECT state, proposed_by, decided_by, note, created_at, expires_at, decided_at
		FROM operator_proposal WHERE id = $1`, at.id)
	if err != nil {
		return Story{}, err
	}
	out := Story{Kind: "proposal", Reference: at.id, Company: at.company, State: p.state, CreatedAt: p.created}
	if out.Steps, err = auditSteps(ctx, q, operation.Case{Company: at.company, ID: at.id, CreatedAt: p.created}, ""); err != nil {
		return Story{}, err
	}
	out.Steps = append(out.Steps, Step{At: p.created, What: "intent", Text: "proposed by " + p.by + ", until " + clock.Text(p.expires)})
	if !p.decidedAt.IsZero() {
		out.Steps = append(out.Steps, Step{At: p.decidedAt, What: "state", Text: strings.TrimSpace(p.state + " by " + p.decided + " " + MaskText(p.note))})
	}
	return out, out.finish(ctx, q)
}
