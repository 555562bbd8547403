package safehaven

import (
	"context"
	"net/url"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Statement lists the lines of our account. An unreadable line is an error. If the line were left
// out, its money would seem to be missing from the account.
func (p *Plug) Statement(ctx context.Context, from, to time.Time, page int) ([]provider.StatementLine, bool, error) {
	account, err := p.ourAccount(ctx)
	if err != nil {
		return nil, false, err
	}
	var rows []statementLine
	pages, err := p.page(ctx, "/accounts/"+url.PathEscape(account)+"/statement?"+(days(from, to) + paging(page))[1:], &rows)
	if err != nil {
		return nil, false, err
	}
	var out []provider.StatementLine
	for _, r := range rows {
		line, ok := r.read()
		if line.Amount == 0 && ok {
			continue // a line whose amount is zero
		}
		if !ok {
			return nil, false, provider.Unreadable.Error(p.Name())
		}
		if line.At.Before(from) || !line.At.Before(to) {
			continue
		}
		out = append(out, line)
	}
	return out, more(page, pages, len(rows)), nil
}

type statementLine struct {
	ID               text `json:"_id"`
	PaymentReference text `json:"paymentReference"`
	Type             text `json:"type"`
	IsReversal       flag `json:"isReversal"`
	Amount           text `json:"amount"`
	RunningBalance   text `json:"runningBalance"`
	Narration        text `json:"narration"`
	TransactionDate  text `json:"transactionDate"`
}

func (r statementLine) read() (provider.StatementLine, bool) {
	amount, ok := naira(r.Amount)
	balance, _ := naira(r.RunningBalance) // informs operators only, so an unreadable balance is accepted
	direction, at := lower(r.Type), provider.Instant(r.TransactionDate)
	ok = ok && amount >= 0 && !at.IsZero() && (direction == "credit" || direction == "debit")
	return provider.StatementLine{
		ID: string(r.ID), Reference: string(r.PaymentReference), Credit: direction == "credit", Reversal: bool(r.IsReversal),
		Amount: amount, Balance: balance, Narration: string(r.Narration), At: at,
	}, ok
}
