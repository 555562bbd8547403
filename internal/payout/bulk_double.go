package payout

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

const (
	// doubleAge is the age up to which an earlier payout counts as the double of a line.
	doubleAge = 7 * 24 * time.Hour
	// enquiryAge is more than the time between a name enquiry and its payout.
	enquiryAge = unconfirmed + time.Hour
	// mostDoubles is the number of the newest payouts to some accounts at which one search looks.
	mostDoubles = 5000
)

// beneficiary is an account and an amount. Two payouts with the same beneficiary may be doubles.
type beneficiary struct {
	bankCode, accountNumber string
	amount                  money.Kobo
}

func (l lineRow) beneficiary() beneficiary { return beneficiary{l.BankCode, l.AccountNumber, l.Amount} }

// paidTo is a payout with the account that it pays.
type paidTo struct{ id, bankCode, accountNumber string }

// markDoubles writes into each line the newest payout of the last seven days to the same account with the
// same amount. A refunded payout is no double, unless the bank says that it paid it nevertheless. A payout whose outcome is in doubt
// comes before one without an outcome, and this one before newer ones, because each warns of more. The mark is a warning: the line can be sent nevertheless.
func (s *Service) markDoubles(ctx context.Context, company string, lines []lineRow) error {
	var accounts []string
	for _, l := range lines {
		accounts = append(accounts, l.AccountNumber)
	}
	if len(accounts) == 0 {
		return nil
	}
	paid, err := s.paidAccounts(ctx, company, accounts, s.Clock.Now().Add(-doubleAge), mostDoubles)
	if err != nil || len(paid) == 0 {
		return err
	}
	ids := make([]string, len(paid))
	for i, p := range paid {
		ids[i] = p.id
	}
	all, err := s.Operations.FindAll(ctx, company, ids)
	if err != nil {
		return err
	}
	doubts, err := operation.Doubts(ctx, s.DB, company, ids)
	if err != nil {
		return err
	}
	amounts, weight := map[string]money.Kobo{}, map[string]int{}
	for _, o := range all {
		switch {
		case doubts[o.ID] != operation.Sure:
			weight[o.ID] = 2
		case o.State == operation.Pending:
			weight[o.ID] = 1
		case o.Refunded():
			continue
		}
		amounts[o.ID] = o.Amount
	}
	newest := map[beneficiary]string{}
	for _, p := range paid {
		b := beneficiary{p.bankCode, p.accountNumber, amounts[p.id]}
		if b.amount > 0 && (newest[b] == "" || weight[p.id] > weight[newest[b]]) {
			newest[b] = p.id
		}
	}
	for i, l := range lines {
		lines[i].DoubleOf = newest[l.beneficiary()]
	}
	return nil
}

// DoubleOf returns the newest payout of the last seven days to the account of a verification with the same amount, or "".
// The mark is a warning, as that of a line is: the payout can be sent nevertheless.
func (s *Service) DoubleOf(ctx context.Context, company, verifyID string, amount money.Kobo) (string, error) {
	rows, err := s.findTerms(ctx, company, verifyID)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	one := []lineRow{{BankCode: rows[0].BankCode, AccountNumber: rows[0].AccountNumber, Amount: amount}}
	err = s.markDoubles(ctx, company, one)
	return one[0].DoubleOf, err
}

// firstLines returns the number of the first line of each beneficiary.
func firstLines(lines []lineRow) map[beneficiary]int64 {
	first := make(map[beneficiary]int64, len(lines))
	for _, l := range lines {
		if first[l.beneficiary()] == 0 {
			first[l.beneficiary()] = l.Line
		}
	}
	return first
}
