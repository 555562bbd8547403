package payout_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// each runs a test on both kinds of database, each time with a new company and a new bank.
func each(t *testing.T, f func(t *testing.T, w *world)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { f(t, newWorld(t, d)) })
}

// flat sets fees of ten naira and one percent for the main company.
func (w *world) flat() {
	w.t.Helper()
	must(w.t, w.SetFees(w.t.Context(), me, w.company, payout.Schedule{{Flat: 10 * money.Naira, BasisPoints: 100}}))
}

func TestAPayoutThatSucceeds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.flat()
		id := w.verify()
		p, err := w.Send(t.Context(), payout.Order{Company: w.company, VerifyID: id, Amount: 500 * money.Naira, Narration: "Rent"})
		must(t, err)
		if p.Reference != id || p.Status != operation.Success || p.Fee != 15*money.Naira || string(p.SessionID) != session ||
			p.AccountName != "ADA  Obi" || p.BankName != "Access Bank" || p.Narration != "Rent" || p.CompletedAt.IsZero() || p.Refunded {
			t.Errorf("%+v", p)
		}
		order := w.bank.sent[0]
		if order.Reference != id || order.Amount != 500*money.Naira || order.Account != "0123456789" || order.BankCode != "000014" ||
			order.NameEnquirySession != "enquiry-1" || order.Narration != "Rent" {
			t.Errorf("the bank was told %+v", order)
		}
		w.holds(map[string]money.Kobo{w.own(): 485 * money.Naira, "clearing/payout": 0, "fee": 15 * money.Naira, "provider/bank": -500 * money.Naira})
		if kinds := w.events(id); !slices.Equal(kinds, []string{"payout.pending", "payout.success"}) {
			t.Errorf("events %q", kinds)
		}
		_, err = w.send(id, 1)
		w.refused(err, "Verification already used")
	})
}

// The fintech pays the bank's charge, and the company does not.
func TestTheBanksChargeIsBooked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		charged := yes
		charged.Charge = 1075
		w.bank.says(charged, charged)
		w.sent(500*money.Naira, operation.Success)
		w.holds(map[string]money.Kobo{w.own(): 500 * money.Naira, "charge/bank": -1075, "provider/bank": -500*money.Naira + 1075})
	})
}

func TestAHundredSendsOfOneVerificationPayOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		id := w.verify()
		var all sync.WaitGroup
		var mu sync.Mutex
		paid := 0
		for range 100 {
			all.Go(func() {
				_, err := w.send(id, 5*money.Naira)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					paid++
					return
				}
				w.refused(err, "Verification already used")
			})
		}
		all.Wait()
		if paid != 1 || len(w.bank.sent) != 1 {
			t.Errorf("%d were paid, the bank was asked %d times", paid, len(w.bank.sent))
		}
		w.holds(map[string]money.Kobo{w.own(): 995 * money.Naira})
	})
}

func TestAmountAndFeeMayTakeTheWholeBalance(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.flat()
		id := w.verify()
		// The fee of 980.20 is 10 + 9.802, rounded down to 19.80. Amount and fee are 1,000.00.
		_, err := w.send(id, 98_021)
		w.refused(err, "Insufficient balance")
		if len(w.bank.sent) != 0 {
			t.Error("the bank was asked for money that is not there")
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
		p, err := w.send(id, 98_020) // the refused payout left the verification unused
		must(t, err)
		if p.Fee != 1980 {
			t.Errorf("the fee is %s", p.Fee)
		}
		w.holds(map[string]money.Kobo{w.own(): 0})
	})
}

func TestADefiniteNoGivesAllBackAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.flat()
		w.bank.says(no, no)
		p := w.sent(100*money.Naira, operation.Failed)
		if !p.Refunded || p.FailureReason != "Beneficiary bank refused" {
			t.Errorf("%+v", p)
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira, "clearing/payout": 0, "fee": 0, "provider/bank": -1000 * money.Naira})
		if kinds := w.events(p.Reference); !slices.Equal(kinds, []string{"payout.pending", "payout.failed"}) {
			t.Errorf("events %q", kinds)
		}
		_, err := w.send(p.Reference, 1)
		w.refused(err, "Verification already used")
	})
}

func TestAnUnknownPayoutIsRequeriedAndNeverSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		first, later provider.TransferAnswer
		end          operation.State
	}{
		"delivered":           {silence, yes, operation.Success},
		"refused":             {silence, no, operation.Failed},
		"seen before":         {provider.TransferAnswer{Answer: provider.Answer{Code: "94", Message: "Duplicate record"}}, yes, operation.Success},
		"came back meanwhile": {silence, back, operation.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.bank.says(c.first, c.later)
				p := w.sent(100*money.Naira, operation.Pending)
				w.holds(map[string]money.Kobo{w.own(): 900 * money.Naira, "clearing/payout": 100 * money.Naira})
				w.forward(6 * time.Second)
				w.poll(p.Reference)
				p, err := w.Status(t.Context(), w.company, p.Reference)
				must(t, err)
				if p.Status != c.end || p.Refunded != (c.end == operation.Failed) || len(w.bank.sent) != 1 {
					t.Errorf("%+v after %d transfers", p, len(w.bank.sent))
				}
				w.holds(map[string]money.Kobo{"clearing/payout": 0})
				w.events(p.Reference)
			})
		})
	}
}

func TestNoSuchReferenceCountsAfterTheGracePeriod(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(silence, unseen)
		p := w.sent(100*money.Naira, operation.Pending)
		for range 3 {
			w.forward(3 * time.Minute)
			w.poll(p.Reference)
		}
		if p, _ = w.Status(t.Context(), w.company, p.Reference); p.Status != operation.Pending {
			t.Fatalf("believed after nine minutes: %s", p.Status)
		}
		w.forward(30 * time.Minute)
		w.poll(p.Reference)
		if p, _ = w.Status(t.Context(), w.company, p.Reference); p.Status != operation.Failed {
			t.Fatalf("not believed after 39 minutes: %s", p.Status)
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
	})
}

func TestAStaleVerificationIsRepeatedBeforeTheTransfer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		id := w.verify()
		w.forward(15 * time.Minute)
		w.bank.name = "Ada Obi " // the same name with different capitals and blanks
		_, err := w.send(id, 10*money.Naira)
		must(t, err)
		if order := w.bank.sent[0]; order.NameEnquirySession != "enquiry-2" {
			t.Errorf("paid by %s", order.NameEnquirySession)
		}

		id = w.verify()
		w.forward(16 * time.Minute)
		w.bank.name = "Chidi Eze"
		_, err = w.send(id, 10*money.Naira)
		w.refused(err, "Account name has changed. Validate the account again.")
		w.bank.enquiry = provider.Rejected
		_, err = w.send(id, 10*money.Naira)
		w.refused(err, "Account does not exist")
		w.bank.enquiry = provider.Unknown
		if _, err = w.send(id, 10*money.Naira); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a bank that does not answer: %v", err)
		}
		w.holds(map[string]money.Kobo{w.own(): 990 * money.Naira})
		w.bank.enquiry, w.bank.name = provider.Confirmed, "Ada Obi"
		_, err = w.send(id, 10*money.Naira) // the refused payouts left the verification unused
		must(t, err)
	})
}

// A name that was asked for while the clock was ten days ahead is asked for again, because nobody knows how old it is.
func TestANameOfAClockAheadIsAskedAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var wrong clock.Movable
		wrong.MoveTo(10 * 24 * time.Hour)
		w.Clock = &wrong
		id := w.verify()
		w.Clock, w.bank.name = w.clock, "Chidi Eze"
		asked := w.bank.requests
		_, err := w.send(id, 10*money.Naira)
		w.refused(err, "Account name has changed. Validate the account again.")
		if w.bank.requests != asked+1 {
			t.Errorf("%d enquiries", w.bank.requests-asked)
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
	})
}

// The age of a name counts from the question, as the bank counts it. The program may be frozen before it reads the answer.
func TestANameIsAsOldAsItsQuestion(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.slow = func() { w.forward(16 * time.Minute) }
		id := w.verify()
		w.bank.slow = nil
		asked := w.bank.requests
		_, err := w.send(id, 10*money.Naira)
		must(t, err)
		if w.bank.requests != asked+1 {
			t.Errorf("%d enquiries", w.bank.requests-asked)
		}
	})
}

// A verify_id that has paid is used, whatever became of the account, the bank or the PIN. Another answer, such as "Validate the account
// again", would lead the company to a second payment.
func TestAPaidVerificationIsUsedWhateverChangedSince(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"renamed": func(w *world) { w.bank.name = "Chidi Eze" },
		"refused": func(w *world) { w.bank.enquiry = provider.Rejected },
		"silent":  func(w *world) { w.bank.enquiry = provider.Unknown },
		"no bank": func(w *world) { w.Payers = provider.Only[provider.Payer]("other", w.bank) },
		"inactive": func(w *world) {
			_, err := w.settlements.SetStatus(w.t.Context(), me, w.company, w.account, settlement.Inactive, "")
			must(w.t, err)
		},
		"PIN locked": func(w *world) {
			for range 5 {
				_ = w.companies.CheckPIN(w.t.Context(), w.company, "0000")
			}
		},
		"PIN reset": func(w *world) { must(w.t, w.companies.SetPIN(w.t.Context(), me, w.company, secret.NewText("5678"))) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				id := w.sent(10*money.Naira, operation.Success).Reference
				w.forward(16 * time.Minute)
				change(w)
				_, err := w.send(id, 10*money.Naira)
				w.refused(err, "Verification already used")
				_, _, err = w.MayWait(t.Context(), payout.Order{Company: w.company, VerifyID: id, Amount: 10 * money.Naira})
				w.refused(err, "Verification already used")
				w.holds(map[string]money.Kobo{w.own(): 990 * money.Naira})
			})
		})
	}
}

// A repeated name enquiry has a separate timeout, so it does not shorten the transfer's timeout.
func TestASlowNameEnquiryTakesNoTimeFromTheTransfer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		id := w.verify()
		w.forward(16 * time.Minute)
		w.bank.slow = func() { w.forward(3 * time.Second) } // longer than the window of two seconds
		p, err := w.send(id, 100*money.Naira)
		must(t, err)
		if p.Status != operation.Success || len(w.bank.sent) != 1 {
			t.Errorf("%d transfers, %+v", len(w.bank.sent), p)
		}
	})
}

func TestMoneyThatComesBackIsGivenBackOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.flat()
		p := w.sent(100*money.Naira, operation.Success)
		w.bank.says(yes, back)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := w.Notified(t.Context(), p.Reference); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		p, err := w.Status(t.Context(), w.company, p.Reference)
		must(t, err)
		if p.Status != operation.Reversed || !p.Refunded || p.FailureReason == "" {
			t.Errorf("%+v", p)
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira, "fee": 0, "provider/bank": -1000 * money.Naira})
		if kinds := w.events(p.Reference); !slices.Equal(kinds, []string{"payout.pending", "payout.success", "payout.reversed"}) {
			t.Errorf("events %q", kinds)
		}
	})
}

// The bank pays and immediately returns the money. The notification of the return may arrive
// while Kobo writes the success. Kobo must then book the return and must not open a case. An
// adjustment that resolves such a case would refund the money a second time.
func TestAReturnWhileTheSuccessIsWritten(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, hear := range map[string]func(reference string){
			"the notice":   func(r string) { must(t, w.Notified(t.Context(), r)) },
			"the resolver": w.poll,
		} {
			w.bank.says(silence, back)
			p := w.sent(100*money.Naira, operation.Pending)
			w.forward(6 * time.Second)
			w.bank.asked = func() {
				_, err := w.operations.Notified(t.Context(), w.company, p.Reference, yes.Answer)
				must(t, err)
				w.bank.asked = nil
			}
			hear(p.Reference)
			must(t, w.Notified(t.Context(), p.Reference))
			if kinds := w.events(p.Reference); !slices.Equal(kinds, []string{"payout.pending", "payout.success", "payout.reversed"}) {
				t.Errorf("%s: events %q", name, kinds)
			}
			cases, _, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
			must(t, err)
			if len(cases) > 0 {
				t.Errorf("%s: cases %+v", name, cases)
			}
		}
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira, "clearing/payout": 0, "provider/bank": -1000 * money.Naira})
	})
}

// The bank rejects a payout that it confirmed before, and two operators decide that the money
// is back. A later return by the bank must not refund the money a second time.
func TestARefundByOperatorsIsNotRepeated(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.flat()
		p := w.sent(100*money.Naira, operation.Success)
		w.bank.says(yes, no)
		must(t, w.Notified(t.Context(), p.Reference))
		cases, _, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
		must(t, err)
		for _, name := range []string{"ada", "bob"} {
			by := operator.Local(name)
			_, err := w.operations.ResolveCase(t.Context(), cases[0].ID, operation.Finding{Outcome: operation.FoundRejected}, "it is back", by.Name, by.Note)
			must(t, err)
		}
		w.bank.says(yes, back)
		must(t, w.Notified(t.Context(), p.Reference))
		w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira, "fee": 0, "provider/bank": -1000 * money.Naira})
		if kinds := w.events(p.Reference); !slices.Equal(kinds, []string{"payout.pending", "payout.success", "payout.reversed"}) {
			t.Errorf("events %q", kinds)
		}
		if _, n, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0); err != nil || n > 0 {
			t.Errorf("%d cases are open, %v", n, err)
		}
	})
}

func TestNoticesAndTheResolverSettleOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.says(silence, yes)
		p := w.sent(100*money.Naira, operation.Pending)
		w.forward(6 * time.Second)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { w.poll(p.Reference) })
			all.Go(func() {
				if err := w.Notified(t.Context(), p.Reference); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.holds(map[string]money.Kobo{w.own(): 900 * money.Naira, "clearing/payout": 0, "provider/bank": -1100*money.Naira + 200*money.Naira})
		if kinds := w.events(p.Reference); !slices.Equal(kinds, []string{"payout.pending", "payout.success"}) {
			t.Errorf("events %q", kinds)
		}
	})
}

func TestANoticeOnlyCausesAQuestion(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if err := w.Notified(t.Context(), "nothing"); !fault.Is(err, fault.Missing) {
			t.Errorf("of an unknown payout: %v", err)
		}
		p := w.sent(10*money.Naira, operation.Success)
		w.bank.says(yes, silence)
		if err := w.Notified(t.Context(), p.Reference); !fault.Is(err, fault.Unavailable) {
			t.Errorf("when the bank cannot be asked: %v", err)
		}
		// If the bank rejects a payout after its success, but does not report a return of the
		// money, the rejection contradicts the ledger. An operator must decide.
		w.bank.says(yes, no)
		must(t, w.Notified(t.Context(), p.Reference))
		cases, n, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
		must(t, err)
		if n != 1 || cases[0].Reason != operation.Contradiction || cases[0].Subject != p.Reference {
			t.Errorf("cases %+v", cases)
		}
		w.holds(map[string]money.Kobo{w.own(): 990 * money.Naira})
	})
}

// After a restore the bank may have paid a verify_id of the backup already. A refusal of the repetition then
// decides nothing: the bank is asked about the reference, and only its reply refunds.
func TestARepetitionAfterARestoreIsNotRefundedUnasked(t *testing.T) {
	for _, c := range []struct {
		name   string
		says   provider.TransferAnswer
		knows  provider.TransferAnswer
		status operation.State
	}{
		{"paid before", no, yes, payout.Success},
		{"refused before", no, no, payout.Failed},
		{"never sent", provider.TransferAnswer{Answer: provider.Reply{Trouble: provider.CodeNotSent}.Answer()}, unseen, payout.Failed},
		{"paid, and the bank is away", provider.TransferAnswer{Answer: provider.Reply{Trouble: provider.CodeNotSent}.Answer()}, yes, payout.Success},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.bank.says(c.says, c.knows)
				w.operations.Restored = func() bool { return true }
				p := w.sent(10*money.Naira, payout.Pending)
				w.holds(map[string]money.Kobo{w.own(): 990 * money.Naira})
				for range 8 {
					w.forward(6 * time.Minute)
					w.poll(p.Reference)
				}
				now, err := w.Status(t.Context(), w.company, p.Reference)
				if must(t, err); now.Status != c.status || now.Refunded != (c.status == payout.Failed) {
					t.Errorf("%+v", now)
				}
			})
		})
	}
}
