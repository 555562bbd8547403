package report

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// amountAndAccount matches an amount beside an account number, such as "18,250.50 0123456789". The other order works too. The
// amount has a sign of one, because two groups of digits alone may be a phone number or a card number.
var (
	amountAndAccount = regexp.MustCompile(`^(\S+) ([0-9]{10})$`)
	accountAndAmount = regexp.MustCompile(`^([0-9]{10}) (\S+)$`)
)

// moneyOfAccount returns the question for an amount to or from an account.
func moneyOfAccount(text string) (Question, bool) {
	amount, account := "", ""
	if m := amountAndAccount.FindStringSubmatch(text); m != nil {
		amount, account = m[1], m[2]
	} else if m := accountAndAmount.FindStringSubmatch(text); m != nil {
		account, amount = m[1], m[2]
	}
	if !amountShape.MatchString(amount) {
		return Question{}, false
	}
	k, err := money.Parse(strings.NewReplacer("₦", "", ",", "").Replace(amount))
	if err != nil {
		return Question{}, false
	}
	return Question{
		As: "an amount to or from an account", Where: []string{"payouts to it", "credits from it"}, text: account, amount: k,
		looks: []lookUp{ofAmount(k)},
	}, true
}

// ofAmount returns a look-up that finds the latest payouts to an account, and credits from it, with an amount. It looks at
// the 50 latest of each.
func ofAmount(k money.Kobo) lookUp {
	return func(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
		paid, err := db.All(ctx, q, db.Fields[Hit], `SELECT o.kind, o.company_id, o.id, '', o.amount_kobo, o.created_at
			FROM (SELECT company_id, id, created_at FROM payout_verification WHERE account_number = $1 ORDER BY created_at DESC LIMIT 50) AS v
			CROSS JOIN operation AS o WHERE o.company_id = v.company_id AND o.id = v.id AND o.amount_kobo = $2 ORDER BY v.created_at DESC LIMIT $3`, text, k, atMost+1)
		if err != nil {
			return nil, err
		}
		received, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'credit', company_id, id, '', amount_kobo, created_at
			FROM (SELECT company_id, id, amount_kobo, created_at FROM settlement_credit WHERE sender_account = $1 AND sender_account <> ''
				ORDER BY created_at DESC LIMIT 50) AS c
			WHERE amount_kobo = $2 ORDER BY created_at DESC LIMIT $3`, text, k, atMost+1)
		return slices.Concat(paid, received), err
	}
}
