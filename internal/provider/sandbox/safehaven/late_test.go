package safehaven

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// A control request makes only the next payment late. A requery does not find the late payment
// before the payment is due, even after a restart. When the payment is due, the last digits of its
// number choose its outcome.
func TestALatePaymentIsCarriedOutOnce(t *testing.T) {
	for ending, want := range map[string]provider.Outcome{"88": provider.Confirmed, "01": provider.Rejected, "02": provider.Confirmed} {
		t.Run(ending, func(t *testing.T) {
			path, ctx := filepath.Join(t.TempDir(), "sandbox.db"), context.Background()
			s := open(t, sandbox.Config{Path: path, Hold: 100 * time.Millisecond})
			p, _ := connect(t, s, s.Clock)
			if status, body := byHand(t, s).Do("POST", "/sandbox/next-payment", `{"late":"3h"}`); status != 200 {
				t.Fatalf("HTTP %d %v", status, body)
			}
			held, prompt := mtn(ending), mtn("88")
			held.Reference, prompt.Reference = id.New(), id.New()
			if a := p.Pay(ctx, held); a.Outcome != provider.Unknown {
				t.Errorf("at first: %+v", a)
			}
			if a := p.Pay(ctx, prompt); a.Outcome != provider.Confirmed {
				t.Errorf("the next but one: %+v", a)
			}
			s.server.Close()

			s = open(t, sandbox.Config{Path: path, Clock: new(clock.Movable), Hold: 100 * time.Millisecond})
			p, _ = connect(t, s, s.Clock)
			if err := s.server.Advance(ctx, 170*time.Minute); err != nil {
				t.Fatal(err)
			}
			if a := p.Requery(ctx, provider.Sale{Reference: held.Reference, Begun: s.Clock.Now()}); !a.Missing || executions(t, s, held.Reference) != 0 {
				t.Errorf("too early: %+v", a)
			}
			if a := p.Requery(ctx, provider.Sale{Reference: "of nobody", Begun: s.Clock.Now()}); !a.Missing {
				t.Errorf("another reference: %+v", a)
			}
			for range 2 {
				if err := s.server.Advance(ctx, 15*time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			executed := 0
			if want == provider.Confirmed {
				executed = 1
			}
			if a := p.Requery(ctx, provider.Sale{Reference: held.Reference, Begun: s.Clock.Now()}); a.Outcome != want || executions(t, s, held.Reference) != executed {
				t.Errorf("afterwards: %+v", a)
			}
			var listed []struct {
				Reference string
				Denied    int64
			}
			_, body := byHand(t, s).Do("GET", "/sandbox/provider-ledger", "")
			if text, err := json.Marshal(body["data"]); err != nil || json.Unmarshal(text, &listed) != nil {
				t.Fatalf("%v %v", body, err)
			}
			if len(listed) != 1+executed {
				t.Errorf("the provider's ledger is %+v", listed)
			}
			for _, row := range listed {
				if denied := map[string]int64{held.Reference: 1}[row.Reference]; row.Denied != denied {
					t.Errorf("%+v was denied %d times", row, denied)
				}
			}
		})
	}
}

func TestALatePaymentNeedsADuration(t *testing.T) {
	s := open(t, sandbox.Config{})
	c := byHand(t, s)
	for _, body := range []string{`{}`, `{"late":""}`, `{"late":"-1h"}`, `{"late":"soon"}`, `{"late":"1h","reference":"x"}`} {
		if status, got := c.Do("POST", "/sandbox/next-payment", body); status != 400 || got["status"] != "error" {
			t.Errorf("%s: HTTP %d %v", body, status, got)
		}
	}
}

// With all=true the ledger also shows what the bank refused, what it left open, and what it has never got.
func TestTheLedgerShowsWhatWasNotExecuted(t *testing.T) {
	s := open(t, sandbox.Config{Clock: new(clock.Movable), Hold: 10 * time.Millisecond})
	p, _ := connect(t, s, s.Clock)
	want := map[string]string{}
	for ending, status := range map[string]string{"10": "successful 1", "01": "failed 0", "03": "unknown 0", "08": "pending 0"} {
		buy := provider.Purchase{
			Reference: "ref-" + ending, Kind: provider.Airtime, Category: catalogue[0].categories[0].id, Amount: 100 * money.Naira, Phone: "080312345" + ending,
		}
		p.Pay(t.Context(), buy)
		want[buy.Reference] = status
		p.Requery(t.Context(), provider.Sale{Reference: buy.Reference, Begun: s.Clock.Now()})
	}
	list := func(query string) map[string]string {
		t.Helper()
		var rows []struct {
			Reference, Status  string
			Executions, Denied int64
		}
		_, body := byHand(t, s).Do("GET", "/sandbox/provider-ledger"+query, "")
		if text, err := json.Marshal(body["data"]); err != nil || json.Unmarshal(text, &rows) != nil {
			t.Fatalf("%v %v", body, err)
		}
		found := map[string]string{}
		for _, row := range rows {
			found[row.Reference] = fmt.Sprint(row.Status, " ", row.Executions)
			if (row.Status == books.Unknown) != (row.Denied == 1) {
				t.Errorf("%+v", row)
			}
		}
		return found
	}
	if got := list("?all=true"); !maps.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	if got := list("?all=true&reference=ref-03"); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := list("?all=false"); len(got) != 1 || got["ref-10"] == "" {
		t.Errorf("%v", got)
	}
	if status, body := byHand(t, s).Do("GET", "/sandbox/provider-ledger?all=yes", ""); status != 400 {
		t.Errorf("HTTP %d %v", status, body)
	}
}
