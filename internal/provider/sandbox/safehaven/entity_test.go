package safehaven

import (
	"context"
	"testing"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
)

func TestVerification(t *testing.T) {
	s := open(t, sandbox.Config{})
	p, _ := connect(t, s, s.Clock)
	ask := func(kind provider.ServiceKind, category, number string) provider.EntityAnswer {
		return p.VerifyEntity(context.Background(), provider.EntityQuery{Kind: kind, Category: category, Number: number})
	}
	power, tv, data := catalogue[2].categories[0].id, catalogue[3].categories[0].id, catalogue[1].categories[0].id
	if a := ask(provider.CableTV, tv, "7012345601"); a.Outcome != provider.Confirmed || a.CustomerName != "ADA TESTER" || a.VendType != "" {
		t.Errorf("a smartcard: %+v", a)
	}
	if a := ask(provider.Utility, power, "45012345688"); a.Outcome != provider.Confirmed || a.VendType != provider.Prepaid ||
		a.Least != 500*money.Naira || a.Most != 500_000*money.Naira {
		t.Errorf("a meter: %+v", a)
	}
	if a := ask(provider.Utility, power, "95012345688"); a.VendType != provider.Postpaid {
		t.Errorf("a postpaid meter: %+v", a)
	}
	for range 2 { // the two rounds give each call both forms of a refusal
		for _, a := range []provider.EntityAnswer{
			ask(provider.CableTV, tv, "7012345699"), ask(provider.Utility, power, "abc"), ask(provider.Data, data, "08031234588"),
		} {
			if a.Outcome != provider.Rejected {
				t.Errorf("not refused: %+v", a)
			}
		}
	}
}
