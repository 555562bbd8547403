package api_test

import (
	"context"
	"strings"
	"sync"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// biller is a fake biller. The last digits of the number of a phone, smartcard or meter choose the
// outcome (completion.md §5).
type biller struct {
	mu   sync.Mutex
	paid map[string]provider.Purchase // by payment reference
}

func (b *biller) Name() string { return "Biller" }

func (b *biller) Services(context.Context) ([]provider.Service, error) {
	return []provider.Service{
		{Code: "airtime", Name: "Airtime", Kind: provider.Airtime},
		{Code: "data", Name: "Data", Kind: provider.Data},
		{Code: "utility", Name: "Utility", Kind: provider.Utility},
		{Code: "cable", Name: "Cable TV", Kind: provider.CableTV},
	}, nil
}

func (b *biller) Categories(_ context.Context, service string) ([]provider.Category, error) {
	return map[string][]provider.Category{
		"airtime": {{Code: "mtn-air", Name: "MTN", Vendor: "MTN"}, {Code: "9m-air", Name: "9MOBILE", Vendor: "ETISALAT"}},
		"data":    {{Code: "mtn", Name: "MTN", Vendor: "MTN"}, {Code: "9m", Name: "9MOBILE", Vendor: "ETISALAT"}},
		"utility": {{Code: "ikeja", Name: "Ikeja Electric", Vendor: "IKEJA"}},
		"cable":   {{Code: "dstv", Name: "DSTV", Vendor: "DSTV"}, {Code: "gotv", Name: "GOTV", Vendor: "GOTV"}},
	}[service], nil
}

func (b *biller) Products(_ context.Context, _ provider.ServiceKind, category string) ([]provider.Product, error) {
	switch category {
	case "mtn", "9m":
		return []provider.Product{
			{Code: "100mb", Name: "100MB Daily", Validity: "1 day", Amount: 100 * money.Naira, Fixed: true},
			{Code: "650mb", Validity: "650MB, 3 days", Amount: 500 * money.Naira, Fixed: true},
		}, nil
	case "dstv":
		return []provider.Product{
			{Code: "TOP_UP", Name: "Top Up"},
			{Code: "dstv-padi", Name: "DStv Padi", Validity: "1 month", Amount: 4400 * money.Naira, Fixed: true},
			{Code: "dstv-compact|dstv-french", Name: "DStv Compact + French Touch", Validity: "1 month", Amount: 26000 * money.Naira, Fixed: true},
		}, nil
	case "gotv":
		return []provider.Product{{Code: "gotv-smallie", Name: "GOtv Smallie", Validity: "1 month", Amount: 1900 * money.Naira, Fixed: true}}, nil
	}
	return nil, nil
}

func (b *biller) VerifyEntity(_ context.Context, q provider.EntityQuery) provider.EntityAnswer {
	if strings.HasSuffix(q.Number, "99") {
		return provider.EntityAnswer{Answer: provider.Answer{
			Outcome: provider.Rejected, Code: "400", Message: "There is no such smartcard or meter",
		}}
	}
	out := provider.EntityAnswer{Answer: provider.Answer{Outcome: provider.Confirmed, Code: "200"}}
	out.CustomerName = "ADA TESTER"
	if q.Kind == provider.Utility {
		out.Address, out.VendType, out.Least, out.Most = "12 Marina, Lagos", provider.Prepaid, 500*money.Naira, 500_000*money.Naira
	}
	return out
}

func story(p provider.Purchase) string {
	number := p.Phone + p.Card + p.Meter
	return number[len(number)-2:]
}

func (b *biller) Pay(_ context.Context, p provider.Purchase) provider.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paid[p.Reference] = p
	switch story(p) {
	case "01":
		return provider.Answer{Outcome: provider.Rejected, Code: "99", Message: "Declined"}
	case "02", "03":
		return provider.Answer{Code: provider.CodeTimeout}
	}
	return delivery(p)
}

func (b *biller) Requery(_ context.Context, s provider.Sale) provider.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.paid[s.Reference]
	if story(p) == "03" {
		return provider.Answer{Missing: true, Code: "25", Message: "No such reference"}
	}
	return delivery(p)
}

func delivery(p provider.Purchase) provider.Answer {
	a := provider.Answer{Outcome: provider.Confirmed, Reference: "biller-" + p.Reference, Code: "00", Message: "Successful"}
	if p.VendType == provider.Prepaid {
		a.Token = "26362054405982757802"
	}
	return a
}
