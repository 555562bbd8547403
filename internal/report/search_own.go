package report

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// ownLook finds things of one company by a text. It returns at most atMost+1 things.
type ownLook func(ctx context.Context, q db.Querier, company, text string) ([]Hit, error)

// Own is a question of a company about its own data.
type Own struct {
	Question
	// IsID is true if the text may be the id of something. A text that may be a secret, a BVN or a card number is no id.
	IsID  bool
	looks []ownLook
}

// AskOwn reads the shape of a text that somebody of a company has typed. It looks nowhere.
func AskOwn(text string) Own {
	out := Own{Question: Ask(text)}
	switch out.As {
	case "a secret":
		out.Note = "That is a secret. Kobo does not search for secrets. If somebody else has seen it, revoke the key or rotate the secret of the webhook under Developers."
	case "an e-mail address":
		out.Where, out.looks = []string{"customers"}, []ownLook{ownByEmail}
	case "a phone number":
		out.looks = []ownLook{ownByPhone, ownForPhone}
	case "a meter or smartcard number":
		out.looks = []ownLook{ownByMeter}
	case "a session ID":
		out.Where, out.looks = []string{"credits", "payouts"}, []ownLook{ownBySession, ownByProviderReference}
	case "an account number":
		out.looks = []ownLook{ownBankAccounts, ownByAccount, ownCollections, ownPaidTo, ownCreditsFrom, ownByMeter}
	case "an amount to or from an account":
		out.looks = []ownLook{ownOfAmount(out.amount)}
	case "a transaction hash":
		out.Where, out.looks = []string{"crypto deposits"}, []ownLook{ownByHash}
	case "an address on a chain":
		out.Where, out.looks = []string{"your deposit addresses"}, []ownLook{ownByAddressOnChain}
	case "a number", "an ID of Kobo", "a reference or a name", "the reference of a company":
		out.Where = []string{"payments", "bulk payouts", "approvals", "customers", "cards", "your own references", "references of providers", "requests", "idempotency keys"}
		out.IsID, out.looks = true, []ownLook{ownByReference, ownByProviderReference, ownByRequest, ownByKey}
		if out.As == "a number" {
			out.looks = append(out.looks, ownByMeter)
		}
		if some := onChain(out.text); len(some) > 0 {
			out.Where, out.looks = append(out.Where, "deposit addresses", "crypto deposits"), append(out.looks, some...)
		}
	default:
		out.Where = nil
	}
	return out
}

// SearchOwn returns what of a company a question finds, at most five of each place, and whether there is more. Each place is
// looked up by an index.
func (s *Service) SearchOwn(ctx context.Context, company string, a Own) (hits []Hit, more bool, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		hits, more = nil, false // a snapshot may begin again
		for _, l := range a.looks {
			found, err := l(ctx, q, company, a.text)
			if err != nil {
				return err
			}
			if len(found) > atMost {
				found, more = found[:atMost], true
			}
			for _, h := range found {
				if !slices.ContainsFunc(hits, func(o Hit) bool { return o.Kind == h.Kind && o.ID == h.ID }) {
					hits = append(hits, h)
				}
			}
		}
		return nil
	})
	return hits, more, err
}

func ownByEmail(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', c.company_id, c.id, c.first_name || ' ' || c.last_name, 0, c.created_at
		FROM customer_email AS e CROSS JOIN customer AS c
		WHERE e.company_id = $1 AND e.email = $2 AND c.company_id = e.company_id AND c.id = e.customer_id AND c.erased_at = 0 LIMIT $3`, company, text, atMost+1)
}

func ownByPhone(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', company_id, id, first_name || ' ' || last_name, 0, created_at
		FROM customer WHERE company_id = $1 AND phone_number IN ($2, $3, $4) AND erased_at = 0 ORDER BY id LIMIT $5`, company, text, "234"+text[1:], "+234"+text[1:], atMost+1)
}

func ownForPhone(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'vtu', o.company_id, o.id, '', o.amount_kobo, o.created_at
		FROM (SELECT company_id, id, created_at FROM vtu_purchase WHERE company_id = $1 AND phone_number = $2 AND phone_number <> ''
			ORDER BY created_at DESC LIMIT $3) AS p
		CROSS JOIN operation AS o WHERE o.company_id = $1 AND o.id = p.id ORDER BY p.created_at DESC`, company, text, atMost+1)
}

// ownByMeter finds the purchases for a meter, or else for a smartcard.
func ownByMeter(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	meters, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'vtu', o.company_id, o.id, '', o.amount_kobo, o.created_at
		FROM (SELECT company_id, id, created_at FROM vtu_purchase WHERE company_id = $1 AND meter_number = $2 AND meter_number <> ''
			ORDER BY created_at DESC LIMIT $3) AS p
		CROSS JOIN operation AS o WHERE o.company_id = $1 AND o.id = p.id ORDER BY p.created_at DESC`, company, text, atMost+1)
	if err != nil || len(meters) > 0 {
		return meters, err
	}
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'vtu', o.company_id, o.id, '', o.amount_kobo, o.created_at
		FROM (SELECT company_id, id, created_at FROM vtu_purchase WHERE company_id = $1 AND card_number = $2 AND card_number <> ''
			ORDER BY created_at DESC LIMIT $3) AS p
		CROSS JOIN operation AS o WHERE o.company_id = $1 AND o.id = p.id ORDER BY p.created_at DESC`, company, text, atMost+1)
}

// ownBySession finds the company's credit of a session. The directory of sessions would not find money of an unknown owner that operators
// have assigned to the company, because it keeps the house as the owner.
func ownBySession(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	names, err := banks(ctx, q)
	if err != nil {
		return nil, err
	}
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'credit', company_id, id, sender_name, amount_kobo, created_at FROM settlement_credit
		WHERE company_id = $1 AND provider = ANY($2) AND session_id = $3 LIMIT $4`, company, names, text, atMost+1)
}

func ownBankAccounts(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'settlement account', a.company_id, CAST(a.id AS TEXT), a.name, 0, a.created_at
		FROM settlement_directory AS d CROSS JOIN settlement_bank_account AS b CROSS JOIN settlement_account AS a
		WHERE d.account_number = $2 AND d.company_id = $1 AND b.company_id = d.company_id AND b.account_number = d.account_number AND b.bank_code = d.bank_code
			AND a.company_id = b.company_id AND a.id = b.settlement_id LIMIT $3`, company, text, atMost+1)
}

func ownByAccount(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', c.company_id, c.id, c.first_name || ' ' || c.last_name, 0, c.created_at
		FROM customer_account AS a CROSS JOIN customer AS c
		WHERE a.company_id = $1 AND a.account_number = $2 AND a.account_number <> '' AND c.company_id = a.company_id AND c.id = a.customer_id AND c.erased_at = 0 LIMIT $3`, company, text, atMost+1)
}

func ownCollections(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'collection', company_id, id, '', amount_kobo, created_at FROM collection
		WHERE company_id = $1 AND account_number = $2 AND account_number <> '' ORDER BY id DESC LIMIT $3`, company, text, atMost+1)
}

// ownPaidTo returns the latest payouts to an account. Most names that were asked for were then paid, so the 50 latest names
// are enough.
func ownPaidTo(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT o.kind, o.company_id, o.id, v.account_name, o.amount_kobo, o.created_at
		FROM (SELECT company_id, id, account_name, created_at FROM payout_verification WHERE company_id = $1 AND account_number = $2
			ORDER BY created_at DESC LIMIT 50) AS v
		CROSS JOIN operation AS o WHERE o.company_id = $1 AND o.id = v.id ORDER BY v.created_at DESC LIMIT $3`, company, text, atMost+1)
}

func ownCreditsFrom(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'credit', company_id, id, sender_name, amount_kobo, created_at FROM settlement_credit
		WHERE company_id = $1 AND sender_account = $2 AND sender_account <> '' ORDER BY created_at DESC LIMIT $3`, company, text, atMost+1)
}

// ownOfAmount returns a look-up for the latest payouts to an account, and credits from it, with an amount. It looks at the 50
// latest of each.
func ownOfAmount(k money.Kobo) ownLook {
	return func(ctx context.Context, q db.Querier, company, text string) ([]Hit, error) {
		paid, err := db.All(ctx, q, db.Fields[Hit], `SELECT o.kind, o.company_id, o.id, v.account_name, o.amount_kobo, o.created_at
			FROM (SELECT company_id, id, account_name, created_at FROM payout_verification WHERE company_id = $1 AND account_number = $2
				ORDER BY created_at DESC LIMIT 50) AS v
			CROSS JOIN operation AS o WHERE o.company_id = $1 AND o.id = v.id AND o.amount_kobo = $3 ORDER BY v.created_at DESC LIMIT $4`, company, text, k, atMost+1)
		if err != nil {
			return nil, err
		}
		received, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'credit', company_id, id, sender_name, amount_kobo, created_at
			FROM (SELECT company_id, id, sender_name, amount_kobo, created_at FROM settlement_credit WHERE company_id = $1 AND sender_account = $2
				AND sender_account <> '' ORDER BY created_at DESC LIMIT 50) AS c
			WHERE amount_kobo = $3 ORDER BY created_at DESC LIMIT $4`, company, text, k, atMost+1)
		return slices.Concat(paid, received), err
	}
}
