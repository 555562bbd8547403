package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

// listPayments lists the payments of all companies, or of one.
func (e *edge) listPayments(ctx context.Context, r *request) (any, error) {
	f := report.PaymentFilter{
		Company: r.filter("company"), Kind: r.filter("kind"), Word: r.filter("word"), Provider: r.filter("provider"), After: r.filter("after"),
	}
	var err error
	if f.From, err = day(r, "from", false); err != nil {
		return nil, err
	}
	if f.To, err = day(r, "to", true); err != nil {
		return nil, err
	}
	if f.Least, err = naira(r, "least"); err != nil {
		return nil, err
	}
	if f.Most, err = naira(r, "most"); err != nil {
		return nil, err
	}
	page, err := e.Reports.Payments(ctx, f)
	if err != nil {
		return nil, err
	}
	return Payments{Payments: rows(page.Payments, paymentOf), Next: wire.Optional(page.Next), SearchedTo: clock.Optional(page.SearchedTo)}, nil
}

// naira parses an amount in the query. A missing amount is 0.
func naira(r *request, name string) (money.Kobo, error) {
	value := r.filter(name)
	if value == "" {
		return 0, nil
	}
	k, err := money.Parse(value)
	if err != nil || k < 0 {
		return 0, fault.Newf(fault.Invalid, "%q must be an amount in naira", name)
	}
	return k, nil
}

func paymentOf(p report.PaymentLine) Payment {
	return Payment{
		Kind: p.Kind, Reference: p.Reference, Company: p.Company, CompanyName: wire.Optional(p.CompanyName), Status: p.State, Word: p.Word, Doubt: wire.Optional(p.Doubt.String()),
		Amount: p.Amount, Fee: p.Fee, Counterparty: wire.Optional(p.Counterparty), Provider: wire.Optional(p.Provider),
		ExternalReference: wire.Optional(p.OwnReference), SessionID: wire.Optional(p.SessionID),
		NextAt: clock.Optional(p.NextAt), CreatedAt: clock.Text(p.CreatedAt),
	}
}

// listCryptoDeposits lists what has arrived on chains for all companies, or for one.
func (e *edge) listCryptoDeposits(ctx context.Context, r *request) (any, error) {
	f := report.DepositFilter{
		Company: r.filter("company"), State: r.filter("state"), Network: r.filter("network"), Asset: r.filter("asset"), After: r.filter("after"),
	}
	var err error
	if f.From, err = day(r, "from", false); err != nil {
		return nil, err
	}
	if f.To, err = day(r, "to", true); err != nil {
		return nil, err
	}
	page, err := e.Reports.ListDeposits(ctx, f)
	if err != nil {
		return nil, err
	}
	return CryptoDeposits{Deposits: rows(page.Deposits, depositOf), Next: wire.Optional(page.Next), SearchedTo: clock.Optional(page.SearchedTo)}, nil
}

func depositOf(d report.DepositLine) CryptoDeposit {
	return CryptoDeposit{
		Reference: d.Reference, Company: d.Company, CompanyName: wire.Optional(d.CompanyName), Status: d.State, Network: d.Network, Asset: d.Asset,
		Amount: d.Amount, Address: d.Address, TxHash: d.Hash, CreatedAt: clock.Text(d.CreatedAt),
	}
}
