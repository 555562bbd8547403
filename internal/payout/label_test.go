package payout_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/secret"
)

// labelled sends a payout with labels.
func (w *world) labelled(verifyID, reference string, metadata operation.Metadata) (payout.Payout, error) {
	return w.Send(w.t.Context(), payout.Order{
		Company: w.company, VerifyID: verifyID, Amount: 100, Labels: operation.Labels{ExternalReference: reference, Metadata: metadata},
	})
}

// Every event of a payout shows its labels, whoever writes the outcome: the request, the resolver or
// a notification about a return.
func TestEventsShowTheLabels(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(silence, yes)
		p, err := w.labelled(w.verify(), "order-1", `{"branch":"Ikeja"}`)
		if must(t, err); p.Status != payout.Pending {
			t.Fatal(p.Status)
		}
		w.forward(10 * time.Second)
		w.poll(p.Reference)
		w.bank.says(yes, back)
		must(t, w.Notified(t.Context(), p.Reference))
		if got := fmt.Sprint(w.events(p.Reference)); got != "[payout.pending payout.success payout.reversed]" {
			t.Error(got)
		}
		w.bank.says(yes, yes)
		direct, err := w.labelled(w.verify(), "order-2", `{"branch":"Ikeja"}`)
		must(t, err)
		w.events(direct.Reference)
		all, _, err := event.NewService(w.db, w.book).Feed(t.Context(), w.company, 0, 1000, 0)
		must(t, err)
		seen := 0
		for _, e := range all {
			var data struct {
				ExternalReference string
				Metadata          map[string]string
			}
			must(t, json.Unmarshal(e.Data, &data))
			if data.ExternalReference != "" && data.Metadata["branch"] == "Ikeja" {
				seen++
			}
		}
		if seen != 5 {
			t.Errorf("%d events of 5 show the labels", seen)
		}
	})
}

// A reference serves one payout of the company for ever. A payout that is refused because of its
// reference debits nothing, and its verification stays unused. A used verification is the first
// reason, so a repeated request learns that it was carried out.
func TestAReferenceServesOnePayout(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(no, no)
		first, second := w.verify(), w.verify()
		p, err := w.labelled(first, "order-1", "")
		if must(t, err); p.Status != payout.Failed {
			t.Fatal(p.Status)
		}
		w.bank.says(yes, yes)
		_, err = w.labelled(second, "order-1", "")
		w.refused(err, `"externalReference" was already used`)
		_, err = w.labelled(first, "order-1", "")
		w.refused(err, "Verification already used")
		if p, err := w.labelled(second, "order-2", ""); err != nil || p.Status != payout.Success {
			t.Errorf("%+v, %v", p, err)
		}
		if len(w.bank.sent) != 2 {
			t.Errorf("the bank got %d orders", len(w.bank.sent))
		}
		other, account := w.join("Other", 1000)
		w.company, w.account = other, account
		must(t, w.companies.SetPIN(t.Context(), me, other, secret.NewText(pin)))
		if _, err := w.labelled(w.verify(), "order-1", ""); err != nil {
			t.Errorf("another company: %v", err)
		}
	})
}

// A payout without labels leaves no row of labels.
func TestNoLabelsLeaveNoRows(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.sent(100, payout.Success)
		n, err := db.One(t.Context(), w.db, db.Value[int64],
			`SELECT (SELECT count(*) FROM operation_label) + (SELECT count(*) FROM operation_mark)`)
		if err != nil || n != 0 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}
