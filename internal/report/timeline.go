package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// Step is one step of a case's timeline.
type Step struct {
	At   time.Time
	What string // intent, attempt, answer, state, next, transfer, event, case, approval or audit
	Text string // the description for operators

	// Transfer is set for a transfer in the ledger, and nil for other steps.
	Transfer *Moved
	// Event is the number of the company's event that the step is, or whose delivery it is. It is 0 for
	// other steps.
	Event int64
	// Delivery is the id of the delivery whose last attempt the step is. It is "" for other steps.
	Delivery string
	// NextAttemptAt is when that delivery is tried next. It is zero if it is over.
	NextAttemptAt time.Time

	event string // the id of the event
	poll  int64  // the number of the poll; 0 for other steps
	said  string // the provider's reply to the poll
}

// Moved is a transfer between two accounts of a ledger, with the balance of each account after it.
type Moved struct {
	Debit, Credit          string
	Amount                 money.Kobo
	DebitLeft, CreditThere money.Kobo
}

// CaseTimeline returns all known steps of a case, ordered by time. The steps are the intent of the
// operation, the provider's replies, the ledger's transfers, the company's events, and the
// operators' actions. If the money went to a different company, the transfers in that company's
// ledger are included. Long numbers in a provider's text are masked, since they may be account or
// phone numbers.
func (s *Service) CaseTimeline(ctx context.Context, c operation.Case) ([]Step, error) {
	var steps []Step
	err := s.db.Snapshot(ctx, func(q db.Querier) error {
		steps = []Step{{At: c.CreatedAt, What: "case", Text: string(c.Reason) + ": " + MaskText(c.Detail)}} // a snapshot may begin again
		own, err := around(ctx, q, c, intent, attemptSteps, answers, transferSteps, auditSteps)
		if err != nil || c.Target == "" || c.Target == c.Company {
			steps = append(steps, own...)
			return err
		}
		theirs := c
		theirs.Company = c.Target
		given, err := around(ctx, q, theirs, transferSteps)
		for i := range given {
			given[i].Text = "at " + c.Target + ": " + given[i].Text
		}
		steps = slices.Concat(steps, own, given)
		return err
	})
	slices.SortStableFunc(steps, func(a, b Step) int { return a.At.Compare(b.At) })
	return folded(steps), err
}

// folded replaces successive polls that got equal replies with one step. The step shows the time of
// the first poll, the number of polls and the time of the last poll.
func folded(steps []Step) (out []Step) {
	for len(steps) > 0 {
		first, n := steps[0], 1
		for n < len(steps) && first.poll > 0 && steps[n].poll > 0 && steps[n].said == first.said {
			n++
		}
		if n > 1 {
			last := steps[n-1]
			first.Text = fmt.Sprintf("polls %d to %d, %d equal answers, the last at %s: %s", first.poll, last.poll, n, clock.Text(last.At), first.said)
		}
		out, steps = append(out, first), steps[n:]
	}
	return out
}

// part is a function that reads the steps of one kind. The steps are about the subject of a case.
type part func(ctx context.Context, q db.Querier, c operation.Case, subject string) ([]Step, error)

// around reads some kinds of a case's steps from the ledger of the case's company. It adds the
// events that belong to these steps.
func around(ctx context.Context, q db.Querier, c operation.Case, parts ...part) (steps []Step, err error) {
	subject, err := subjectOf(ctx, q, c)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		more, err := p(ctx, q, c, subject)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	told, err := eventsAround(ctx, q, c.Company, subject, steps)
	return append(steps, told...), err
}

// subjectOf returns the reference that rows about a case have. This is the id of the credit with
// the case's bank and session ID. If there is no such credit, it is the id of the operation.
func subjectOf(ctx context.Context, q db.Querier, c operation.Case) (string, error) {
	bank, session, _ := strings.Cut(c.Subject, "/")
	ids, err := db.All(ctx, q, db.Value[string],
		`SELECT id FROM settlement_credit WHERE company_id = $1 AND provider = $2 AND session_id = $3`, c.Company, bank, session)
	if err != nil || len(ids) == 0 {
		return c.Subject, err
	}
	return ids[0], nil
}

func intent(ctx context.Context, q db.Querier, c operation.Case, subject string) ([]Step, error) {
	list, err := db.All(ctx, q, operation.Scan,
		`SELECT `+operation.Columns+` FROM operation WHERE operation.company_id = $1 AND operation.id = $2`, c.Company, subject)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	o := list[0]
	text := fmt.Sprintf("%s of %s naira, fee %s, from settlement account %d", o.Kind, o.Amount.Decimal(), o.Fee.Decimal(), o.SettlementID)
	if o.Attempt == 0 { // otherwise each attempt is a step
		text += fmt.Sprintf(", by %s, under the reference %s", o.Provider, o.ID)
	}
	steps := []Step{{At: o.CreatedAt, What: "intent", Text: text}}
	words, said := "last answer", "" // the words of a PENDING operation may be those of an earlier answer
	if o.State != operation.Pending {
		words, said = "decided by", " "+MaskText(o.Message) // a poll after FAILED decides nothing
	}
	now := Step{At: o.UpdatedAt, What: "state", Text: strings.TrimSpace(fmt.Sprintf("%s, %d polls in all; %s %s (%s)%s",
		o.State, o.Polls, words, o.Outcome, o.Code, said))}
	if o.Outcome != "" {
		steps = append(steps, now)
	}
	if !o.NextAt.IsZero() {
		steps = append(steps, Step{At: o.NextAt, What: "next", Text: "the provider will be asked again"})
	}
	return steps, nil
}

// attemptSteps returns the attempts of an operation that has moved to a different provider.
func attemptSteps(ctx context.Context, q db.Querier, c operation.Case, subject string) (steps []Step, err error) {
	type attempt struct {
		number                                             int64
		provider, reference, state, outcome, code, message string
		cost                                               money.Kobo
		began, ended                                       time.Time
	}
	all, err := db.All(ctx, q, db.Fields[attempt], `SELECT attempt, provider, reference, state, outcome, code, message, cost_kobo, created_at, ended_at
		FROM operation_attempt WHERE company_id = $1 AND operation_id = $2 ORDER BY attempt`, c.Company, subject)
	for _, a := range all {
		steps = append(steps, Step{At: a.began, What: "attempt", Text: fmt.Sprintf("attempt %d by %s, under the reference %s, for %s naira",
			a.number, a.provider, a.reference, a.cost.Decimal())})
		if operation.AttemptState(a.state) == operation.AttemptUnstarted {
			steps = append(steps, Step{At: a.ended, What: "attempt", Text: strings.TrimSpace(fmt.Sprintf("%s never started attempt %d: %s (%s) %s",
				a.provider, a.number, a.outcome, a.code, MaskText(a.message)))})
		}
	}
	return steps, err
}

func answers(ctx context.Context, q db.Querier, c operation.Case, subject string) ([]Step, error) {
	type answer struct {
		poll                              int64
		outcome, code, message, reference string
		at                                time.Time
	}
	return db.All(ctx, q, func(sc db.Scanner) (Step, error) {
		a, err := db.Fields[answer](sc)
		said := fmt.Sprintf("%s (%s) %s", a.outcome, a.code, MaskText(a.message))
		if a.reference != "" {
			said += ", provider reference " + a.reference
		}
		said = strings.TrimSpace(said)
		text := fmt.Sprintf("poll %d: %s", a.poll, said)
		if a.poll == 0 {
			text = "first call: " + said
		}
		return Step{At: a.at, What: "answer", Text: text, poll: a.poll, said: said}, err
	}, `SELECT poll, outcome, code, message, reference, answered_at FROM operation_answer
		WHERE company_id = $1 AND operation_id = $2 ORDER BY id`, c.Company, subject)
}

func transferSteps(ctx context.Context, q db.Querier, c operation.Case, subject string) ([]Step, error) {
	type transfer struct {
		debit, credit   string
		amount          money.Kobo
		kind, narration string
		paid, got       money.Kobo
		at              time.Time
	}
	return db.All(ctx, q, func(sc db.Scanner) (Step, error) {
		t, err := db.Fields[transfer](sc)
		return Step{At: t.at, What: "transfer", Transfer: &Moved{t.debit, t.credit, t.amount, t.paid, t.got}, Text: fmt.Sprintf("%s naira from %s (%s left) to %s (%s there): %s, %s",
			t.amount.Decimal(), t.debit, t.paid.Decimal(), t.credit, t.got.Decimal(), t.kind, MaskText(t.narration))}, err
	}, `SELECT t.debit_account, t.credit_account, t.amount_kobo, t.kind, t.narration, d.current_kobo, e.current_kobo, t.created_at
		FROM ledger_transfer AS t
		JOIN ledger_entry AS d ON d.company_id = t.company_id AND d.account_id = t.debit_account AND d.sequence = t.debit_entry
		JOIN ledger_entry AS e ON e.company_id = t.company_id AND e.account_id = t.credit_account AND e.sequence = t.credit_entry
		WHERE t.company_id = $1 AND t.reference = $2 ORDER BY t.created_at, t.step`, c.Company, subject)
}

func auditSteps(ctx context.Context, q db.Querier, c operation.Case, _ string) ([]Step, error) {
	type line struct {
		operator, action, details string
		at                        time.Time
	}
	return db.All(ctx, q, func(sc db.Scanner) (Step, error) {
		l, err := db.Fields[line](sc)
		if err == nil && l.action == company.PayoutApproved {
			text, err := approvalText(l.details)
			return Step{At: l.at, What: "approval", Text: text}, err
		}
		return Step{At: l.at, What: "audit", Text: l.operator + " " + l.action + " " + l.details}, err
	}, `SELECT operator, action, details, created_at FROM operator_audit
		WHERE company_id = $1 AND subject = $2 AND created_at >= $3 ORDER BY id`, c.Company, c.ID, clock.Micros(c.CreatedAt))
}

const (
	// near is the maximum time between the start or the state of an operation and the commit that books it.
	near = 5 * time.Second
	// mostEvents is the maximum number of events that are read from the begin of an interval, in pages.
	mostEvents   = 500
	pageOfEvents = 50
)

// interval is the time in which events about a step happened.
type interval struct{ from, to time.Time }

// intervals returns when the events about the steps happened, in the order of time. A transfer and its events are in
// one commit, and have its instant. A start or a state is older than its commit.
func intervals(steps []Step) (out []interval) {
	for _, s := range steps {
		switch s.What {
		case "transfer":
			out = append(out, interval{s.At, s.At})
		case "intent", "state":
			out = append(out, interval{s.At, s.At.Add(near)})
		}
	}
	slices.SortFunc(out, func(a, b interval) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
	return slices.Compact(out)
}

// eventsAround returns the events that contain the subject and happened in one of the steps' intervals.
// Events have no database index by subject, so the function searches by time.
func eventsAround(ctx context.Context, q db.Querier, company, subject string, steps []Step) ([]Step, error) {
	type event struct {
		sequence       int64
		id, kind, data string
		at             time.Time
	}
	all := intervals(steps)
	if len(all) == 0 {
		return nil, nil
	}
	last, err := db.One(ctx, q, db.Value[int64], `SELECT event_sequence FROM ledger_head WHERE company_id = $1`, company)
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	var out []Step
	first := int64(1)
	for _, w := range all {
		first, err = firstAt(first, last+1, w.from, func(n int64) (time.Time, error) {
			then, err := db.One(ctx, q, db.Value[int64], `SELECT created_at FROM event
				WHERE company_id = $1 AND sequence >= $2 ORDER BY sequence LIMIT 1`, company, n) // event n may be archived
			return clock.Time(then), err
		})
		if err != nil {
			return nil, err
		}
		for next := first; next < first+mostEvents; next += pageOfEvents {
			page, err := db.All(ctx, q, db.Fields[event], `SELECT sequence, id, kind, data, created_at FROM event
				WHERE company_id = $1 AND sequence >= $2 AND sequence < $3 ORDER BY sequence`, company, next, next+pageOfEvents)
			if err != nil {
				return nil, err
			}
			for _, e := range page {
				if !e.at.After(w.to) && !seen[e.sequence] && strings.Contains(unpacked(e.data), `"`+subject+`"`) {
					seen[e.sequence] = true
					out = append(out, Step{At: e.at, What: "event", Event: e.sequence, event: e.id, Text: fmt.Sprintf("%s, number %d", e.kind, e.sequence)})
				}
			}
			if len(page) == 0 || page[len(page)-1].at.After(w.to) {
				break
			}
		}
	}
	return out, nil
}
