package api_test

import (
	"context"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// payer pays out without a wire; the account decides the story (completion.md
// §5).
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

func (p *payer) Transfer(_ context.Context, t provider.TransferOrder) provider.TransferAnswer {
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
		Answer: provider.Answer{Outcome: provider.Confirmed, Charge: 1075, Code: "00", Message: "Approved"}, SessionID: "090286" + reference[:12],
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

// brokenPayouts are the payouts of a broken world.
type brokenPayouts struct{ broken }

func (b brokenPayouts) Banks(context.Context, string, string) ([]payout.Bank, error) {
	return nil, b.say()
}

func (b brokenPayouts) Validate(context.Context, payout.Enquiry) (payout.Verification, error) {
	return payout.Verification{}, b.say()
}

func (b brokenPayouts) Send(context.Context, payout.Order) (payout.Payout, error) {
	return payout.Payout{}, b.say()
}

func (b brokenPayouts) Preview(context.Context, payout.Order) (payout.Preview, error) {
	return payout.Preview{}, b.say()
}

func (b brokenPayouts) Resume(context.Context, string, string, *idempotency.Key) (payout.Payout, error) {
	return payout.Payout{}, b.say()
}

func (b brokenPayouts) Status(context.Context, string, string) (payout.Payout, error) {
	return payout.Payout{}, b.say()
}

func (b broken) Entry(context.Context, string, string) (report.Entry, error) {
	return report.Entry{}, b.say()
}

func (b broken) Entries(context.Context, string, report.EntryFilter, int, int) ([]report.Entry, int, error) {
	return nil, 0, b.say()
}

func (b broken) Statement(context.Context, string, int64, time.Time, time.Time) (*report.Statement, error) {
	return nil, b.say()
}
