package api_test

import (
	"context"
	"strings"
	"sync"

	"github.com/kobo-waas/kobo/internal/provider"
)

// payer is a fake bank for payouts. The last digits of an account number choose the outcome
// (completion.md §5).
type payer struct {
	mu   sync.Mutex
	paid map[string]string // reference → account
}

func (p *payer) Banks(context.Context) ([]provider.BankCode, error) {
	return []provider.BankCode{
		{Code: "000013", Name: "Guaranty Trust Bank"}, {Code: "000014", Name: "Access Bank"}, {Code: sandboxBank, Name: "Safe Haven Sandbox Bank"},
	}, nil
}

func ending(account string) string { return account[len(account)-2:] }

func (p *payer) NameEnquiry(_ context.Context, code, account string) provider.NameAnswer {
	if ending(account) == "99" {
		return provider.NameAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Code: "07", Message: "Invalid account"}}
	}
	return provider.NameAnswer{
		Answer: provider.Answer{Outcome: provider.Confirmed, Code: "00"}, Session: "999240" + account, Name: "ADA TESTER", BankCode: code, Account: account,
	}
}

// holdKey is the context key of a function that Transfer calls before it pays.
type holdKey struct{}

func (p *payer) Transfer(ctx context.Context, t provider.TransferOrder) provider.TransferAnswer {
	if hold, ok := ctx.Value(holdKey{}).(func()); ok {
		hold()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paid[t.Reference] = t.Account
	switch ending(t.Account) {
	case "01":
		return provider.TransferAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Code: "57", Message: "Transaction not permitted"}}
	case "02", "03":
		return provider.TransferAnswer{Answer: provider.Answer{Code: provider.CodeTimeout}}
	}
	return p.done(t.Reference)
}

func (p *payer) done(reference string) provider.TransferAnswer {
	return provider.TransferAnswer{
		Answer: provider.Answer{Outcome: provider.Confirmed, Charge: 1075, Code: "00", Message: "Approved"}, SessionID: sessionFor(reference),
	}
}

func (p *payer) RequeryTransfer(_ context.Context, reference string) provider.TransferAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ending(p.paid[reference]) == "03" {
		return provider.TransferAnswer{Answer: provider.Answer{Missing: true, Code: "25", Message: "No such reference"}}
	}
	return p.done(reference)
}

// sessionFor returns a session ID of 30 digits that follows from a reference.
func sessionFor(reference string) string {
	digits := strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, reference)
	return ("090286" + digits + strings.Repeat("0", 30))[:30]
}
