package safehaven

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
)

// strictly opens a sandbox and calls one of its controls.
func strictly(t *testing.T, control string, body any) (opened, provider.Biller, provider.Bookkeeper) {
	t.Helper()
	s := open(t, sandbox.Config{})
	p, _ := connect(t, s, s.Clock)
	if status, said := byHand(t, s).Do("POST", "/sandbox/"+control, body); status != 200 {
		t.Fatalf("HTTP %d %v", status, said)
	}
	return s, p, p
}

// The bank's documentation does not state how a repeated externalReference is answered. None of the
// replies counts as a refusal, because the first request was carried out.
func TestARepeatedSaleIsNeverRefused(t *testing.T) {
	for _, manner := range []string{"", byStatus, byMessage, bySale} {
		s, p, _ := strictly(t, "bank-manners", map[string]any{"repeated": manner})
		buy := provider.Purchase{
			Reference: id.New(), Kind: provider.Airtime, Category: catalogue[0].categories[0].id, Amount: 100 * money.Naira, Phone: "08031234510",
		}
		if first := p.Pay(t.Context(), buy); first.Outcome != provider.Confirmed {
			t.Fatalf("%q: %+v", manner, first)
		}
		want := provider.Unknown
		if manner == bySale {
			want = provider.Confirmed
		}
		for range 2 { // the two rounds give a refusal both of its forms
			if a := p.Pay(t.Context(), buy); a.Outcome != want {
				t.Errorf("%q: %+v", manner, a)
			}
		}
		rows, err := s.requests(context.Background(), buy.Reference)
		if err != nil || len(rows) != 1 || rows[0].Executions != 1 {
			t.Errorf("%q: %+v %v", manner, rows, err)
		}
	}
}

// A bank that finds sales by its ids only refuses our reference. That proves nothing, and the id still
// finds the sale.
func TestALookUpByIDsOnly(t *testing.T) {
	_, p, _ := strictly(t, "vas-reference", map[string]any{"externalReference": idsOnly})
	buy := provider.Purchase{
		Reference: id.New(), Kind: provider.Airtime, Category: catalogue[0].categories[0].id, Amount: 100 * money.Naira, Phone: "08031234506",
	}
	sent := p.Pay(t.Context(), buy)
	ours := p.Requery(t.Context(), provider.Sale{Reference: buy.Reference, Kind: buy.Kind})
	if sent.Outcome != provider.Unknown || sent.Reference == "" || ours.Outcome != provider.Unknown || ours.Missing || ours.Found {
		t.Errorf("%+v, then %+v", sent, ours)
	}
	var theirs provider.Answer
	for range 2 { // the second requery of this story delivers
		theirs = p.Requery(t.Context(), provider.Sale{Reference: buy.Reference, Kind: buy.Kind, Theirs: sent.Reference})
	}
	if theirs.Outcome != provider.Confirmed || theirs.Found {
		t.Errorf("%+v", theirs)
	}
}

// A statement may have its lines in another order, and without our references. The plug reads every
// line, and invents no reference.
func TestAStatementInAnotherOrderAndWithoutReferences(t *testing.T) {
	s, p, books := strictly(t, "bank-manners", map[string]any{"anonymous": true, "newest": true})
	var references []string
	for range 3 {
		references = append(references, id.New())
		p.Pay(t.Context(), provider.Purchase{
			Reference: references[len(references)-1], Kind: provider.Airtime, Category: catalogue[0].categories[0].id, Amount: 100 * money.Naira, Phone: "08031234510",
		})
	}
	now := s.Clock.Now()
	lines, more, err := books.Statement(t.Context(), now.Add(-time.Hour), now.Add(time.Hour), 0)
	if err != nil || more || len(lines) != 3 || lines[0].Balance >= lines[2].Balance {
		t.Fatalf("%+v, %v %v", lines, more, err)
	}
	for _, l := range lines {
		for _, r := range references {
			if l.Reference == r || l.Narration != "Transaction" {
				t.Errorf("%+v", l)
			}
		}
	}
}

// Safe Haven documents the list of transfers as the history of one account. A bank that insists on the
// account still lists the credits of each account to the plug.
func TestAListOfTransfersNeedsAnAccount(t *testing.T) {
	for mode, free := range map[string]bool{required: false, optional: true} {
		s, _, _ := strictly(t, "transfer-list", map[string]any{"accountId": mode})
		w := worldOf(t, s)
		w.Credit(t, debitAccount, 100, true)
		status, said := byHand(t, s).Do("POST", "/sandbox/credit", map[string]any{"accountNumber": "8099999999", "amount": 2, "silent": true, "stray": true})
		if status != 200 {
			t.Fatalf("HTTP %d %v", status, said)
		}
		read := func(account string) (amounts []money.Kobo, err error) {
			list, _, err := w.Bank.InboundSince(t.Context(), account, w.Now().Add(-time.Hour), 0)
			for _, c := range list {
				amounts = append(amounts, c.Amount)
			}
			return amounts, err
		}
		if own, err := read(mainAccountID); err != nil || len(own) != 1 || own[0] != 100 {
			t.Errorf("%s: our own account: %v, %v", mode, own, err)
		}
		if all, err := read(""); (err == nil) != free || free && len(all) != 2 {
			t.Errorf("%s: without an account: %v, %v", mode, all, err)
		}
	}
	s := open(t, sandbox.Config{})
	if status, _ := byHand(t, s).Do("POST", "/sandbox/transfer-list", map[string]any{"accountId": "perhaps"}); status != 400 {
		t.Errorf("HTTP %d", status)
	}
}
