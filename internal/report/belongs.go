package report

import (
	"context"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
)

// Belongings is what a payment belongs to.
type Belongings struct {
	// Bulk is the bulk payout to which a payout belongs, and BulkLine the number of its line. "" and 0 stand for none.
	Bulk     string
	BulkLine int64
	Customer string // the customer whose account or card it is; "" for none
	Bought   string // what was bought, such as "MTN airtime"; "" for none
	// Same are the other payouts of the same amount to the same account, up to seven days before or after it: first
	// those that are not refunded, each group the newest first.
	Same     []SamePayout
	MoreSame bool // there are more than the five that Same has
}

// SamePayout is another payout of the same amount to the same account.
type SamePayout struct {
	Reference string
	Word      string // as in a PaymentLine
	Doubt     operation.Doubt
	CreatedAt time.Time
}

// IsRefunded reports whether the money of the payout is back, and the beneficiary has surely not got it.
func (p SamePayout) IsRefunded() bool {
	return (p.Word == "failed" || p.Word == "reversed") && p.Doubt == operation.Sure
}

const (
	// sameAge is how far another payout of the same amount may be away, and mostSame how many of them are shown.
	sameAge  = 7 * 24 * time.Hour
	mostSame = 5
	// enquiryAge is more than the time between a name enquiry and its payout.
	enquiryAge = 25 * time.Hour
	// sameLook is the number of enquiries about an account, next to the payout on either side, among which the others are looked for.
	sameLook = 250
)

// Belongings returns what a payment of a company belongs to. A reference of another kind belongs to nothing.
func (s *Service) Belongings(ctx context.Context, company, reference string) (out Belongings, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		out, err = belongings(ctx, q, company, reference, s.clock.Now())
		return err
	})
	return out, err
}

func belongings(ctx context.Context, q db.Querier, company, reference string, now time.Time) (out Belongings, err error) {
	if out.Bulk, out.BulkLine, err = bulkLineOf(ctx, q, company, reference); err != nil {
		return out, err
	}
	customers, err := customersOf(ctx, q, company, reference)
	if err != nil {
		return out, err
	}
	out.Customer = strings.Join(customers, "")
	goods, err := db.All(ctx, q, db.Value[string], `SELECT `+bought+` FROM vtu_purchase WHERE company_id = $1 AND id = $2`, company, reference)
	if err != nil {
		return out, err
	}
	out.Bought = strings.Join(goods, "")
	rows, err := samePayouts(ctx, q, company, reference)
	if err != nil || len(rows) == 0 {
		return out, err
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.id)
	}
	open, err := openSubjects(ctx, q, []string{company}, ids)
	if err != nil {
		return out, err
	}
	doubts, err := operation.Doubts(ctx, q, company, ids)
	for _, r := range rows[:min(len(rows), mostSame)] {
		out.Same = append(out.Same, SamePayout{r.id, r.word(open[r.id], now), doubts[r.id], clock.Time(r.created)})
	}
	out.MoreSame = len(rows) > mostSame
	return out, err
}

// customersOf returns the customer of a credit or of the funding of a card.
func customersOf(ctx context.Context, q db.Querier, company, reference string) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT customer_id FROM customer_transaction WHERE company_id = $1 AND id = $2
		UNION SELECT c.customer_id FROM card_funding AS f CROSS JOIN card AS c
			WHERE f.company_id = $1 AND f.id = $2 AND c.company_id = f.company_id AND c.id = f.card_id LIMIT 1`, company, reference)
}

// Beneficiary is the account that a payout pays.
type Beneficiary struct {
	Company, Reference                   string
	AccountName, AccountNumber, BankName string
}

// FindBeneficiary returns the account that a payout of any company pays. An unknown reference is a fault of the kind Missing.
func (s *Service) FindBeneficiary(ctx context.Context, reference string) (Beneficiary, error) {
	b, err := db.One(ctx, s.db, db.Fields[Beneficiary], `SELECT v.company_id, v.id, v.account_name, v.account_number, v.bank_name FROM payout AS p
		CROSS JOIN payout_verification AS v WHERE p.id = $1 AND v.company_id = p.company_id AND v.id = p.id`, reference)
	return b, db.Missing(err, "Payout not found")
}

// aimed is a payout with the account that it pays.
type aimed struct {
	account, bank string
	amount        int64
	created       time.Time
}

// samePayouts returns other payouts of the same amount to the account of a payout, one more than are shown.
func samePayouts(ctx context.Context, q db.Querier, company, reference string) ([]paymentRow, error) {
	found, err := db.All(ctx, q, db.Fields[aimed], `SELECT v.account_number, v.bank_code, o.amount_kobo, o.created_at
		FROM operation AS o CROSS JOIN payout_verification AS v WHERE o.company_id = $1 AND o.id = $2 AND v.company_id = o.company_id AND v.id = o.id`, company, reference)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	p := found[0]
	from, to := p.created.Add(-sameAge), p.created.Add(sameAge)
	return db.All(ctx, q, db.Fields[paymentRow], `
		SELECT o.kind, o.company_id, o.id, o.state, o.provider, o.amount_kobo, o.fee_kobo, o.called_until, o.outcome, o.code, o.next_at, o.created_at, '' FROM (
			SELECT id FROM (SELECT id FROM payout_verification
				WHERE company_id = $1 AND account_number = $2 AND created_at >= $4 AND created_at <= $13 AND bank_code = $3 ORDER BY created_at DESC LIMIT $6) AS earlier
			UNION ALL SELECT id FROM (SELECT id FROM payout_verification
				WHERE company_id = $1 AND account_number = $2 AND created_at > $13 AND created_at <= $5 AND bank_code = $3 ORDER BY created_at LIMIT $6) AS later
		) AS v CROSS JOIN operation AS o
		WHERE o.company_id = $1 AND o.id = v.id AND o.id <> $7 AND o.kind = 'payout' AND o.amount_kobo = $8 AND o.created_at >= $9 AND o.created_at <= $5
		ORDER BY CASE WHEN o.state IN ($10, $11) THEN 1 ELSE 0 END, o.created_at DESC, o.id DESC LIMIT $12`,
		company, p.account, p.bank, clock.Micros(from.Add(-enquiryAge)), clock.Micros(to), sameLook, reference, p.amount, clock.Micros(from),
		string(operation.Failed), string(operation.Reversed), int64(mostSame+1), clock.Micros(p.created))
}
