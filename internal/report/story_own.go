package report

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// OwnTimeline returns the story of a company's payout, purchase, card funding, credit, collection, adjustment,
// transfer, customer's credit or movement on a chain by its reference. It has only the steps that are the company's
// business: no act of an operator, no change of the biller, and no cost of the house. Anything else, such as what
// another company has, is a fault of the kind Missing.
func (s *Service) OwnTimeline(ctx context.Context, company, reference string) (Story, error) {
	var out Story
	err := s.db.Snapshot(ctx, func(q db.Querier) error {
		at, err := ownPlace(ctx, q, company, reference)
		if m := depositShape.FindStringSubmatch(reference); errors.Is(err, db.ErrNone) && m != nil && m[1] == company {
			at, err = place{"deposit", company, m[2]}, nil
		}
		if errors.Is(err, db.ErrNone) {
			out, err = bookedStory(ctx, q, company, reference)
			return err
		}
		if err == nil {
			out, err = s.story(ctx, q, at)
		}
		return err
	})
	if errors.Is(err, db.ErrNone) {
		return Story{}, fault.New(fault.Missing, "Timeline not found")
	}
	steps := out.Steps
	out.Steps, out.Cases, out.Counterparty = nil, nil, "" // they name operators
	for _, step := range steps {
		if step.isOwn() {
			out.Steps = append(out.Steps, step)
		}
	}
	return out, err
}

// bookedStory returns the story of money that has rows in the ledger alone, such as money that operators have booked.
func bookedStory(ctx context.Context, q db.Querier, company, reference string) (Story, error) {
	type booked struct {
		kind    string
		amount  money.Kobo
		created time.Time
	}
	b, err := db.One(ctx, q, db.Fields[booked], `SELECT kind, amount_kobo, created_at FROM ledger_transfer
		WHERE company_id = $1 AND reference = $2 ORDER BY created_at, step LIMIT 1`, company, reference)
	if err != nil {
		return Story{}, err
	}
	out := Story{Kind: b.kind, Reference: reference, Company: company, State: "SUCCESS", Amount: b.amount, CreatedAt: b.created}
	return out, out.gather(ctx, q, []string{reference}, reference, nil)
}

// isOwn reports whether a company may read the step, and removes from its text what the company may not.
func (s *Step) isOwn() bool {
	switch s.What {
	case "request", "answer", "state", "event", "delivery", "approval":
		return true
	case "intent": // the rest names the biller
		s.Text, _, _ = strings.Cut(s.Text, ", by ")
		return true
	case "case": // the rest is written for operators
		s.Text, _, _ = strings.Cut(s.Text, ":")
		return true
	case "transfer":
		if !s.Transfer.isOwn() {
			return false
		}
		_, why, _ := strings.Cut(s.Text, " there): ")
		s.Text = s.Transfer.Amount.Decimal() + " naira from " + s.Transfer.Debit + " to " + s.Transfer.Credit + ": " + why
		return true
	}
	return false
}

// Outside is the name that a company reads for a provider's account in the ledger. It does not read the balance.
const Outside = "outside"

// isOwn reports whether a company may read the movement, and removes the names of providers. The cost of a provider is
// paid by the house.
func (m *Moved) isOwn() bool {
	for _, account := range []*string{&m.Debit, &m.Credit} {
		switch kind, _, _ := strings.Cut(*account, "/"); kind {
		case "charge":
			return false
		case "provider":
			*account = Outside
		}
	}
	return true
}
