package vtu_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// restored makes the database a restored one, whose moves are held.
func (s *street) restored() {
	s.operations.Restored = func() bool { return true }
}

// allowed makes the database a restored one. Operators have ended the hold of moves while purchases of before are open.
func (s *street) allowed() {
	until := s.clock.Now().Add(time.Minute)
	s.operations.RestoredUntil = func() time.Time { return until }
}

// lost delivers a purchase at Safe Haven under a reference, as before a restore. The sandbox knows the
// purchase, and the database does not.
func (s *street) lost(reference string) {
	s.t.Helper()
	var sent provider.Purchase
	s.Billers["safehaven"] = puppet{Biller: s.haven, pay: func(_ context.Context, p provider.Purchase) provider.Answer {
		sent = p
		return provider.Answer{Outcome: provider.Rejected, Code: "51"}
	}}
	s.Billers["vtpass"] = puppet{s.pass, s.pass, refuses, nil}
	s.buy("")
	s.Billers["safehaven"], s.Billers["vtpass"] = s.haven, s.pass
	sent.Reference = reference
	if a := s.haven.Pay(s.t.Context(), sent); a.Outcome != provider.Confirmed {
		s.t.Fatalf("safehaven: %+v", a)
	}
}

// A repeated order that the first biller delivered before the restore does not move, and is not
// refunded, although the biller refuses the repetition without a look at its reference.
func TestARepetitionAfterARestoreDoesNotMove(t *testing.T) {
	onStreet(t, provider.Proven, "*=safehaven>vtpass", func(t *testing.T, s *street) {
		key := s.order().IdempotencyKey
		id := operation.Reference(s.company, vtu.Kind, key)
		s.lost(id)
		s.restored()
		held := s.balance()
		s.control("POST", "/sandbox/vas-off", `{"off": true}`)
		o := s.buy(key)
		s.control("POST", "/sandbox/vas-off", `{"off": false}`)
		o = s.resolve(o, 80*time.Hour)
		if o.State != vtu.Success || o.Attempt != 0 || held-s.balance() != topUp || s.delivered(id, o.AttemptReference(2)) != 1 {
			t.Errorf("%s at %s, attempt %d, delivered %d times", o.State, o.Provider, o.Attempt, s.delivered(id, o.AttemptReference(2)))
		}
	})
}

// A repeated order that moved and was delivered before the restore is not sent to the first biller.
func TestARepetitionOfAMovedPurchaseIsNotSent(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		key := s.order().IdempotencyKey
		id := operation.Reference(s.company, vtu.Kind, key)
		moved := operation.Operation{Company: s.company, Kind: vtu.Kind, ID: id}.AttemptReference(2)
		s.lost(moved)
		s.restored()
		o := s.resolve(s.buy(key), 80*time.Hour)
		if o.State != vtu.Pending || s.delivered(moved, id) != 1 || s.cases(o) != string(operation.Unresolved) {
			t.Errorf("%s, delivered %d times, cases %q", o.State, s.delivered(moved, id), s.cases(o))
		}
		fresh := s.resolve(s.buy(""), time.Hour)
		if fresh.State != vtu.Success || s.delivered(fresh.ID) != 1 {
			t.Errorf("a new order: %s", fresh.State)
		}
	})
}

// The backup was made during a request that moved later. The first biller does not know the purchase,
// but the purchase is not refunded, because the second biller has delivered it.
func TestAPurchaseThatMovedAfterTheBackupIsNotRefunded(t *testing.T) {
	for _, lookup := range []string{provider.Proven, provider.Unproven} {
		for name, begins := range map[string]func(s *street){"held": (*street).restored, "the hold has ended": (*street).allowed} {
			t.Run(lookup+", "+name, func(t *testing.T) { movedAfterTheBackup(t, lookup, begins) })
		}
	}
}

// movedAfterTheBackup runs one case of the test above.
func movedAfterTheBackup(t *testing.T, lookup string, begins func(s *street)) {
	onStreet(t, lookup, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		backup := func() operation.Operation {
			order, done := s.order(), make(chan struct{})
			s.stage()["vtpass"] = plot{story: unreachable, crash: after}
			go func() { defer close(done); s.airtime(topUp)(order) }()
			<-done
			o, err := s.operations.FindByKey(t.Context(), s.company, vtu.Kind, order.IdempotencyKey)
			s.must(err)
			return o
		}
		o, never := backup(), backup()
		s.lost(o.AttemptReference(2))
		begins(s)
		held := s.balance()
		if o = s.resolve(o, 80*time.Hour); o.State != vtu.Pending || s.balance() != held || s.cases(o) != string(operation.Unresolved) {
			t.Errorf("%s: delivered, but %s, cases %q", lookup, o.State, s.cases(o))
		}
		want := map[string]operation.State{provider.Proven: vtu.Failed, provider.Unproven: vtu.Pending}[lookup]
		if never = s.resolve(never, 80*time.Hour); never.State != want {
			t.Errorf("%s: never delivered, but %s, cases %q", lookup, never.State, s.cases(never))
		}
	})
}

// The backup has the second attempt of a purchase. It moved once more after the backup, and the third biller has delivered it. So it is not
// refunded, although the second biller does not know its attempt.
func TestAMovedPurchaseThatMovedAgainAfterTheBackupIsNotRefunded(t *testing.T) {
	for name, begins := range map[string]func(s *street){"held": (*street).restored, "the hold has ended": (*street).allowed} {
		t.Run(name, func(t *testing.T) {
			onStreet(t, provider.Proven, "*=vtpass>safehaven>third", func(t *testing.T, s *street) {
				s.Billers["third"] = puppet{Biller: s.haven}
				backup := func() operation.Operation {
					order, done := s.order(), make(chan struct{})
					plots := s.stage()
					plots["vtpass"], plots["safehaven"] = plot{story: off}, plot{story: unreachable, crash: after}
					s.control("POST", "/sandbox/vtpass-off", `{"off": true}`)
					go func() { defer close(done); s.airtime(topUp)(order) }()
					<-done
					s.control("POST", "/sandbox/vtpass-off", `{"off": false}`)
					o, err := s.operations.FindByKey(t.Context(), s.company, vtu.Kind, order.IdempotencyKey)
					s.must(err)
					return o
				}
				o, never := backup(), backup()
				if o.Attempt != 2 || o.Provider != "safehaven" {
					t.Fatalf("attempt %d at %s", o.Attempt, o.Provider)
				}
				s.lost(o.AttemptReference(3))
				begins(s)
				held := s.balance()
				if o = s.resolve(o, 80*time.Hour); o.State != vtu.Pending || s.balance() != held || s.cases(o) != string(operation.Unresolved) {
					t.Errorf("delivered, but %s, cases %q", o.State, s.cases(o))
				}
				if never = s.resolve(never, 80*time.Hour); never.State != vtu.Failed {
					t.Errorf("never delivered, but %s, cases %q", never.State, s.cases(never))
				}
			})
		})
	}
}

// Before the restore the purchase moved from VTpass to Safe Haven. Then operators put Safe Haven first.
func TestARepetitionAfterARestoreAndSwappedRoutes(t *testing.T) {
	onStreet(t, provider.Proven, "*=safehaven>vtpass", func(t *testing.T, s *street) {
		key := s.order().IdempotencyKey
		id := operation.Reference(s.company, vtu.Kind, key)
		moved := operation.Operation{Company: s.company, Kind: vtu.Kind, ID: id}.AttemptReference(2)
		s.lost(moved)
		s.restored()
		s.resolve(s.buy(key), 80*time.Hour)
		if s.delivered(moved, id) != 1 {
			t.Errorf("delivered %d times", s.delivered(moved, id))
		}
	})
}

// Before the restore Safe Haven delivered the first attempt. Then operators put VTpass first.
func TestARepetitionAsksTheOtherBillerAboutItsFirstAttempt(t *testing.T) {
	onStreet(t, provider.Proven, "*=vtpass>safehaven", func(t *testing.T, s *street) {
		key := s.order().IdempotencyKey
		id := operation.Reference(s.company, vtu.Kind, key)
		s.lost(id)
		s.restored()
		o := s.resolve(s.buy(key), 80*time.Hour)
		if o.State == vtu.Success && o.Provider == "vtpass" {
			t.Error("sold by vtpass too")
		}
	})
}

// After a restore the biller takes a repetition, gives it an id, and refuses it later. Only that id is found then. Nobody
// knows what the biller made of the request before the restore, so nothing is refunded.
func TestARefusedRepetitionSaysNothingAboutTheRequestBefore(t *testing.T) {
	for name, want := range map[string]operation.State{"restored": vtu.Pending, "not restored": vtu.Failed} {
		t.Run(name, func(t *testing.T) {
			onStreet(t, provider.Proven, "*=safehaven", func(t *testing.T, s *street) {
				if want == vtu.Pending {
					s.allowed()
				}
				s.Billers["safehaven"] = puppet{Biller: s.haven, pay: func(context.Context, provider.Purchase) provider.Answer {
					return provider.Answer{Code: "09", Reference: "theirs"}
				}, requery: func(_ context.Context, sale provider.Sale) provider.Answer {
					return provider.Answer{Outcome: provider.Rejected, Code: "failed", Reference: sale.Theirs}
				}}
				if o := s.resolve(s.buy(""), 80*time.Hour); o.State != want {
					t.Errorf("%s, cases %q", o.State, s.cases(o))
				}
			})
		})
	}
}
