package report

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// amountAndAccount matches an amount beside an account number, such as "18,250.50 0123456789". The other order works too. An
// amount without ₦, comma and point has two to nine digits.
var (
	amountAndAccount = regexp.MustCompile(`^(\S+) ([0-9]{10})$`)
	accountAndAmount = regexp.MustCompile(`^([0-9]{10}) (\S+)$`)
	bareAmount       = regexp.MustCompile(`^[1-9][0-9]{1,8}$`)
)

const cardNote = "That looks like a card number. Kobo does not search for card numbers, and stores none. Nothing was looked up, and the number was not kept."

// maybeMoney is the note of two groups of digits that are an amount beside an account number, or a card number.
const maybeMoney = cardNote + " If it is an amount beside an account number, write ₦ before the amount."

// moneyOfAccount returns the question for an amount to or from an account.
func moneyOfAccount(text string) (Question, bool) {
	amount, account := "", ""
	if m := amountAndAccount.FindStringSubmatch(text); m != nil {
		amount, account = m[1], m[2]
	} else if m := accountAndAmount.FindStringSubmatch(text); m != nil {
		account, amount = m[1], m[2]
	}
	if bareAmount.MatchString(amount) {
		// Two groups of digits alone may also be a phone number or a card number. These come first.
		switch digits := strings.ReplaceAll(text, " ", ""); {
		case len(digits) == 13 && strings.HasPrefix(digits, "234"):
			return Question{}, false
		case isCard(digits):
			return Question{As: "a card number", Note: maybeMoney}, true
		}
	} else if !amountShape.MatchString(amount) {
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
