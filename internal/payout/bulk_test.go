package payout_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// bulkOf stores a bulk payout with a line for each account. Each line pays ₦100.
func (w *world) bulkOf(accounts ...string) payout.Bulk {
	w.t.Helper()
	lines := make([]payout.LineOrder, len(accounts))
	for i, a := range accounts {
		lines[i] = payout.LineOrder{BankCode: "000014", AccountNumber: a, Amount: 100 * money.Naira}
	}
	return w.bulk(lines)
}

func (w *world) bulk(lines []payout.LineOrder) payout.Bulk {
	w.t.Helper()
	b, err := w.OpenBulk(w.t.Context(), payout.BulkOrder{Company: w.company, SettlementID: w.account, PIN: secret.NewText(pin), Lines: lines})
	must(w.t, err)
	return b
}

// check runs the job that asks for the names, and returns the time of its next run.
func (w *world) check(bulkID string) time.Time {
	w.t.Helper()
	next, err := w.CheckBulk(w.t.Context(), job.Job{Company: w.company, Subject: bulkID})
	must(w.t, err)
	return next
}

// push runs the job that sends the payouts, and returns the time of its next run.
func (w *world) push(bulkID string) time.Time {
	w.t.Helper()
	next, err := w.SendBulk(w.t.Context(), job.Job{Company: w.company, Subject: bulkID})
	must(w.t, err)
	return next
}

func (w *world) confirm(bulkID string) (payout.Bulk, error) {
	return w.ConfirmBulk(w.t.Context(), payout.Confirmation{Company: w.company, BulkID: bulkID, PIN: secret.NewText(pin)})
}

// page returns a bulk payout with all its lines.
func (w *world) page(bulkID string) payout.BulkPage {
	w.t.Helper()
	p, err := w.Bulk(w.t.Context(), w.company, bulkID, 0, 1000)
	must(w.t, err)
	return p
}

// kinds returns how many events of each kind the company has.
func (w *world) kinds() map[string]int {
	w.t.Helper()
	all, _, err := event.NewService(w.db, w.book).Feed(w.t.Context(), w.company, 0, 1000, 0)
	must(w.t, err)
	n := map[string]int{}
	for _, e := range all {
		n[e.Kind]++
	}
	return n
}

// references returns the references of all orders that the bank got, and fails the test if one of
// them came twice.
func (w *world) references() []string {
	w.t.Helper()
	w.bank.mu.Lock()
	defer w.bank.mu.Unlock()
	var all []string
	for _, o := range w.bank.sent {
		if slices.Contains(all, o.Reference) {
			w.t.Errorf("the bank was asked twice to pay %s", o.Reference)
		}
		all = append(all, o.Reference)
	}
	return all
}

func TestABulkPayoutSendsItsGoodLines(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		must(t, w.SetFees(t.Context(), me, w.company, payout.Schedule{{Flat: 10 * money.Naira}}))
		b := w.bulkOf("0000000001", "0000000099", "0000000003")
		if b.State != payout.BulkChecking || b.Checking != 3 {
			t.Fatalf("%+v", b)
		}
		if _, err := w.confirm(b.ID); err == nil || fault.Of(err).Message != "Bulk payout is CHECKING" {
			t.Fatal(err)
		}
		w.check(b.ID)
		p := w.page(b.ID)
		if p.State != payout.BulkChecked || p.Good != 2 || p.Bad != 1 || p.Amount != 200*money.Naira || p.Fee != 20*money.Naira {
			t.Fatalf("%+v", p.Bulk)
		}
		if l := p.Page[1]; l.Verdict != payout.Bad || l.Reason != "Account does not exist" {
			t.Errorf("%+v", l)
		}
		if l := p.Page[0]; l.AccountName != "ADA  Obi" || l.BankName != "Access Bank" || l.Reference != "" {
			t.Errorf("%+v", l)
		}
		c, err := w.confirm(b.ID)
		must(t, err)
		if c.State != payout.BulkConfirmed || c.Pending != 2 {
			t.Errorf("%+v", c)
		}
		w.holds(map[string]money.Kobo{w.own(): 780 * money.Naira})
		if len(w.references()) != 0 {
			t.Error("the confirmation asked the bank to pay")
		}
		_, err = w.confirm(b.ID)
		w.refused(err, "Bulk payout is CONFIRMED")
		_, err = w.CancelBulk(t.Context(), w.company, b.ID, nil)
		w.refused(err, "Bulk payout is CONFIRMED")
		w.push(b.ID)
		if next := w.push(b.ID); !next.IsZero() {
			t.Errorf("the job runs again at %s", next)
		}
		p = w.page(b.ID)
		if p.State != payout.BulkCompleted || p.Succeeded != 2 || p.Pending+p.Failed != 0 || p.Page[0].Status != "SUCCESS" || p.Page[1].Status != "" {
			t.Errorf("%+v", p)
		}
		if got := w.references(); len(got) != 2 {
			t.Errorf("the bank got %q", got)
		}
		if got := fmt.Sprint(w.events(string(p.Page[0].Reference))); got != "[payout.pending payout.success]" {
			t.Error(got)
		}
		if n := w.kinds(); n["bulk_payout.checked"] != 1 || n["bulk_payout.completed"] != 1 || n[event.PayoutPending] != 2 {
			t.Error(n)
		}
		_, uses, err := w.Uses(t.Context(), w.company)
		if must(t, err); uses[0].Used != 200*money.Naira || uses[0].UsedPayouts != 2 {
			t.Errorf("%+v", uses[0])
		}
		w.holds(nil)
		if _, err := w.send(string(p.Page[0].Reference), 1); err == nil || fault.Of(err).Message != "Verification already used" {
			t.Errorf("the reference of a line pays again: %v", err)
		}
	})
}

// A line that fails is refunded alone, with its fee and its part of the limits.
func TestALineFailsAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(no, no)
		b := w.bulkOf("0000000001")
		w.check(b.ID)
		_, err := w.confirm(b.ID)
		must(t, err)
		w.push(b.ID)
		w.push(b.ID)
		p := w.page(b.ID)
		if p.State != payout.BulkCompleted || p.Failed != 1 || p.Page[0].Status != "FAILED" || p.Page[0].Reason != "Beneficiary bank refused" {
			t.Errorf("%+v", p)
		}
		_, uses, err := w.Uses(t.Context(), w.company)
		if must(t, err); uses[0].Used != 0 || uses[0].UsedPayouts != 0 {
			t.Errorf("%+v", uses[0])
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
	})
}

// A confirmation is refused whole if the balance or a limit does not cover all good lines.
func TestAConfirmationIsRefusedWhole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		line := func(amount money.Kobo) payout.LineOrder {
			return payout.LineOrder{BankCode: "000014", AccountNumber: "0123456789", Amount: amount}
		}
		b := w.bulk([]payout.LineOrder{line(400 * money.Naira), line(400 * money.Naira), line(200*money.Naira + 1)})
		w.check(b.ID)
		_, err := w.confirm(b.ID)
		w.refused(err, "Insufficient balance")
		must(t, w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{Payouts: 1}))
		small := w.bulkOf("0000000001", "0000000002")
		w.check(small.ID)
		_, err = w.confirm(small.ID)
		w.refused(err, "Daily payout limit reached")
		must(t, w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{}))
		must(t, w.SetLimit(t.Context(), me, w.company, w.account, payout.Limit{Amount: 200*money.Naira - 1}))
		_, err = w.confirm(small.ID)
		w.refused(err, "Daily payout limit of the settlement account reached")
		_, err = w.ConfirmBulk(t.Context(), payout.Confirmation{Company: w.company, BulkID: small.ID, PIN: secret.NewText("9999")})
		if !fault.Is(err, fault.Refused) {
			t.Errorf("a wrong PIN: %v", err)
		}
		if p := w.page(small.ID); p.State != payout.BulkChecked || p.Page[0].Reference != "" {
			t.Errorf("%+v", p)
		}
		must(t, w.SetLimit(t.Context(), me, w.company, w.account, payout.Limit{Amount: 200 * money.Naira}))
		_, err = w.confirm(small.ID)
		must(t, err)
		w.holds(map[string]money.Kobo{w.own(): 800 * money.Naira})
		must(t, w.companies.SetPIN(t.Context(), me, w.company, secret.NewText(pin)))
		_, err = w.confirm(b.ID)
		w.refused(err, "Bulk payout no longer valid. Make it again.")
	})
}

func TestAnUnconfirmedBulkPayoutIsCancelled(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		old, cancelled := w.bulkOf("0000000001"), w.bulkOf("0000000001")
		if next := w.check(old.ID); !next.Equal(old.ExpiresAt.Truncate(time.Microsecond)) {
			t.Errorf("the job runs next at %s", next)
		}
		for range 2 {
			b, err := w.CancelBulk(t.Context(), w.company, cancelled.ID, nil)
			if must(t, err); b.State != payout.BulkCancelled {
				t.Errorf("%+v", b)
			}
		}
		w.forward(24 * time.Hour)
		_, err := w.confirm(old.ID)
		w.refused(err, "Bulk payout is CANCELLED")
		w.check(old.ID)
		w.check(cancelled.ID)
		if p := w.page(old.ID); p.State != payout.BulkCancelled || p.EndedAt.IsZero() {
			t.Errorf("%+v", p)
		}
		_, err = w.confirm(old.ID)
		w.refused(err, "Bulk payout is CANCELLED")
		other, _ := w.join("Other", 0)
		for _, c := range []string{other, ""} {
			_, one := w.Bulk(t.Context(), c, old.ID, 0, 1)
			_, two := w.CancelBulk(t.Context(), c, old.ID, nil)
			if !fault.Is(one, fault.Missing) || !fault.Is(two, fault.Missing) {
				t.Errorf("%q: %v, %v", c, one, two)
			}
		}
	})
}

// Before a payout is sent, Kobo asks again for a name older than 15 minutes. A changed name or a lost
// account refunds the line. A silent bank keeps it in the queue.
func TestOldNamesAreAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.bulkOf("0000000001")
		w.check(b.ID)
		w.forward(16 * time.Minute)
		_, err := w.confirm(b.ID)
		must(t, err)
		w.bank.enquiry = provider.Unknown
		if w.push(b.ID); w.page(b.ID).Pending != 1 {
			t.Error("a silent bank ended the payout")
		}
		w.bank.enquiry, w.bank.name = provider.Confirmed, "EVE OBI"
		w.push(b.ID)
		w.push(b.ID)
		if p := w.page(b.ID); p.Failed != 1 || p.Page[0].Reason != "Account name has changed. Validate the account again." {
			t.Errorf("%+v", p)
		}
		if len(w.references()) != 0 {
			t.Error("a renamed account was paid")
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
	})
}

// A bank that gives no name makes the line bad after a few enquiries.
func TestASilentBankMakesALineBad(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.enquiry = provider.Unknown
		b := w.bulkOf("0000000001")
		for range 3 {
			w.check(b.ID)
			if p := w.page(b.ID); p.State != payout.BulkChecking {
				t.Fatalf("%+v", p)
			}
		}
		w.check(b.ID)
		if p := w.page(b.ID); p.State != payout.BulkChecked || p.Bad != 1 || p.Page[0].Reason != "The bank did not give the name of the account" {
			t.Errorf("%+v", p)
		}
		_, err := w.confirm(b.ID)
		w.refused(err, "No line can be sent")
	})
}

// The externalReference of a line is unique among the payouts of the company.
func TestReferencesOfLinesAreUnique(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.labelled(w.verify(), "used-1", "")
		must(t, err)
		lines := []payout.LineOrder{}
		for _, r := range []string{"used-1", "used-2", "free-3", ""} {
			lines = append(lines, payout.LineOrder{BankCode: "000014", AccountNumber: "0123456789", Amount: 100, Labels: operation.Labels{ExternalReference: r}})
		}
		b := w.bulk(lines)
		w.check(b.ID)
		if p := w.page(b.ID); p.Bad != 1 || p.Page[0].Reason != `"externalReference" was already used` {
			t.Errorf("%+v", p)
		}
		_, err = w.labelled(w.verify(), "used-2", "")
		must(t, err)
		_, err = w.confirm(b.ID)
		w.refused(err, `"externalReference" was already used`)
		if p := w.page(b.ID); p.State != payout.BulkChecked || p.Bad != 2 {
			t.Errorf("%+v", p)
		}
		c, err := w.confirm(b.ID)
		if must(t, err); c.Pending != 2 {
			t.Errorf("%+v", c)
		}
		p := w.page(b.ID)
		if s, err := w.Status(t.Context(), w.company, string(p.Page[2].Reference)); err != nil || s.ExternalReference != "free-3" {
			t.Errorf("%+v, %v", s, err)
		}
		lines[3] = lines[2]
		_, err = w.OpenBulk(t.Context(), payout.BulkOrder{Company: w.company, SettlementID: w.account, PIN: secret.NewText(pin), Lines: lines})
		if fault.Of(err).Message != `"lines[3].externalReference" is the same as in lines[2]` {
			t.Error(err)
		}
	})
}

// Of many concurrent confirmations one wins, and of many workers one sends each line.
func TestConcurrentConfirmationsAndWorkers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.bulkOf("0000000001", "0000000002", "0000000003")
		w.check(b.ID)
		var mu sync.Mutex
		won := 0
		together(8, func() {
			if _, err := w.confirm(b.ID); err == nil {
				mu.Lock()
				won++
				mu.Unlock()
			} else if fault.Of(err).Message != "Bulk payout is CONFIRMED" {
				t.Error(err)
			}
		})
		if won != 1 {
			t.Errorf("%d confirmations won", won)
		}
		together(8, func() {
			if _, err := w.SendBulk(t.Context(), job.Job{Company: w.company, Subject: b.ID}); err != nil {
				t.Error(err)
			}
		})
		w.push(b.ID)
		if got := w.references(); len(got) != 3 {
			t.Errorf("the bank got %q", got)
		}
		if p := w.page(b.ID); p.State != payout.BulkCompleted || p.Succeeded != 3 {
			t.Errorf("%+v", p)
		}
		w.holds(map[string]money.Kobo{w.own(): 700 * money.Naira})
	})
}

func together(n int, do func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(do)
	}
	all.Wait()
}

// A worker may die at any moment between the claim of a line and the bank's reply. The bank is asked
// to pay each line at most once, and each line gets the outcome that the bank knows.
func TestNoLineIsPaidTwice(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for seed := range uint64(6) {
			random := rand.New(rand.NewPCG(seed, 0))
			w.bank.says(silence, []provider.TransferAnswer{yes, no, unseen}[random.IntN(3)])
			b := w.bulkOf("0000000001", "0000000002")
			w.check(b.ID)
			_, err := w.confirm(b.ID)
			must(t, err)
			for _, l := range w.page(b.ID).Page { // workers that die after the claim
				if random.IntN(2) == 0 {
					o, err := w.operations.Find(t.Context(), w.company, string(l.Reference))
					must(t, err)
					_, err = w.operations.Claim(t.Context(), o, o.CalledUntil)
					must(t, err)
					if _, err = w.operations.Claim(t.Context(), o, o.CalledUntil); !errors.Is(err, operation.ErrClaimed) {
						t.Errorf("a second claim: %v", err)
					}
				}
			}
			for range 12 {
				if next := w.push(b.ID); next.IsZero() {
					break
				}
				w.forward(6 * time.Minute)
				for _, l := range w.page(b.ID).Page {
					w.poll(string(l.Reference))
				}
			}
			w.references()
			if p := w.page(b.ID); p.State != payout.BulkCompleted || p.Pending != 0 {
				t.Errorf("seed %d: %+v", seed, p)
			}
			w.holds(map[string]money.Kobo{"clearing/payout": 0})
		}
	})
}

// A payout that waits too long for its turn is never sent, and neither is one of a restored database. The bank
// may have paid it before the restore, so it is refunded only if the bank does not know it.
func TestALineThatIsNeverSentIsRefunded(t *testing.T) {
	for name, c := range map[string]struct {
		held  bool
		waits time.Duration
		knows provider.TransferAnswer
	}{
		"too late": {false, time.Hour, unseen}, "too late, but paid": {false, time.Hour, yes},
		"restored": {true, 0, unseen}, "restored, but paid": {true, 0, yes}, "restored, too late, but paid": {true, 2 * time.Hour, yes},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.bank.says(silence, c.knows)
				b := w.bulkOf("0000000001")
				w.check(b.ID)
				_, err := w.confirm(b.ID)
				must(t, err)
				held := c.held
				w.SendsHeld = func() bool { return held }
				w.forward(c.waits)
				for range 12 {
					if w.push(b.ID).IsZero() {
						break
					}
					held = false // a hold that ends sends nothing either
					w.forward(6 * time.Minute)
					w.poll(string(w.page(b.ID).Page[0].Reference))
				}
				paid := c.knows.Outcome == provider.Confirmed
				if p := w.page(b.ID); p.State != payout.BulkCompleted || (p.Succeeded == 1) != paid || (p.Failed == 1) == paid {
					t.Errorf("%+v", p)
				}
				if len(w.references()) != 0 {
					t.Error("the bank was asked to pay")
				}
				if !paid {
					w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
				}
			})
		})
	}
}

// The bank does not find a queued payout that was claimed late. Its grace begins with the call.
func TestGraceBeginsWithTheCall(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(silence, unseen)
		b := w.bulkOf("0000000001")
		w.check(b.ID)
		_, err := w.confirm(b.ID)
		must(t, err)
		w.forward(40 * time.Minute)
		w.push(b.ID)
		reference := string(w.page(b.ID).Page[0].Reference)
		for range 8 {
			w.forward(90 * time.Second)
			w.poll(reference)
		}
		if p := w.page(b.ID); p.Pending != 1 {
			t.Errorf("after 12 minutes: %+v", p)
		}
		for range 4 {
			w.forward(90 * time.Second)
			w.poll(reference)
		}
		if p := w.page(b.ID); p.Failed != 1 {
			t.Errorf("after 18 minutes: %+v", p)
		}
	})
}
