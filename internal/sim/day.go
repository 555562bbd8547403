package sim

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	rules "github.com/kobo-waas/kobo/internal/payout"
)

// feeFlat is the part of each payout's fee that does not depend on the amount. The other part is one percent.
const feeFlat = 10 * money.Naira

// furnish gives the company what it needs for all kinds of payments.
func (w *world) furnish() {
	w.t.Helper()
	w.life.Program.Client = w.client
	schedule := rules.Schedule{{Flat: feeFlat, BasisPoints: 100}}
	if err := w.life.App.Payouts.SetFees(w.t.Context(), operator.Local("sim"), w.client.Reference, schedule); err != nil {
		w.t.Fatal(err)
	}
	w.bundle, w.airtime = w.client.Bundle(), w.client.Category("Airtime", "MTN")
	var made struct{ Data struct{ ID, CardID string } }
	for _, one := range []struct {
		path string
		body func() map[string]any
	}{
		{"/api/v1/customer/create", func() map[string]any {
			return map[string]any{
				"firstName": "Ada", "lastName": "Tester", "email": "ada@example.com", "phoneNumber": "08012345678", "bvn": "22212345678",
				"address": map[string]string{"line1": "1 Marina", "city": "Lagos", "state": "Lagos"},
			}
		}},
		{"/api/v1/customer/generate-account", func() map[string]any { return map[string]any{"customerId": made.Data.ID, "otp": "123456"} }},
		{"/api/v1/card/generate-card", func() map[string]any { return map[string]any{"customerId": made.Data.ID, "type": "virtual"} }},
	} {
		id := made.Data.ID
		w.client.Do(http.MethodPost, one.path, one.body()).Want(w.t, http.StatusOK).Into(w.t, &made)
		if id != "" && made.Data.CardID == "" {
			made.Data.ID = id
		}
		if made.Data.CardID != "" {
			w.card = made.Data.CardID
			made.Data.ID = id
		}
	}
	var customer struct {
		BankAccount struct{ AccountNumber string }
	}
	w.client.Data("/api/v1/customer/"+made.Data.ID, &customer)
	w.customer = customer.BankAccount.AccountNumber
}

// now returns the time on the clock of the world.
func (w *world) now() time.Time { return w.life.App.Clock.Now() }

// advance moves the clock of the world. If the program crashes meanwhile, it is started again.
func (w *world) advance(d time.Duration) {
	w.t.Helper()
	a, err := w.client.Raw(w.t.Context(), http.MethodPost, "/sandbox/clock", map[string]string{"advance": d.String()})
	if err != nil && !w.life.isDead() || err == nil && a.Status != http.StatusOK {
		w.t.Fatalf("day %d step %d: the clock was not moved: %s, %v", w.day, w.step, a, err)
	}
	w.revive()
}

// steps is the number of steps of a day. At the end of a day some hours pass without a step.
const steps = 24

// calm is how long the clients of the providers may refuse to call after a storm. They measure it by the
// time of the machine, which is the virtual time.
const calm = time.Minute

// pass lets a day pass, and checks the world at its end.
func (w *world) pass() {
	w.t.Helper()
	w.day++
	evening := began.Add(time.Duration(w.day) * 24 * time.Hour)
	stormy := 0
	for w.step = 1; w.step <= steps; w.step++ {
		if stormy--; stormy == 0 {
			w.faults.set("", "")
			w.wait(calm)
			w.say("the storm is over")
		}
		if stormy < 0 && w.chance.IntN(16) == 0 {
			kind := choose(w, ofAll...)
			stormy = 1 + w.chance.IntN(3)
			w.faults.set("", kind)
			w.say("a storm: %s", kind)
		}
		w.advance(time.Duration(1+w.chance.IntN(35*60)) * time.Second)
		w.take(stormy > 0)
		w.wait(time.Duration(w.chance.IntN(2500)) * time.Millisecond)
	}
	w.faults.set("", "")
	w.wait(calm)
	for range 3 {
		w.advance(30 * time.Minute)
	}
	for left := evening.Sub(w.now()); left > time.Second; left = evening.Sub(w.now()) {
		w.advance(min(left, 90*time.Minute))
	}
	w.check()
	w.report.Days++
}

// take takes one step: one act of the company or of the bank, and at most one fault beside a storm.
func (w *world) take(stormy bool) {
	w.t.Helper()
	switch n := w.chance.IntN(100); {
	case n < 62:
		w.pay(stormy)
	case n < 82:
		w.credit()
	case n < 90 && !stormy:
		w.invoice()
	case n < 94:
		w.returnPayout()
	case n < 96 && !stormy:
		w.faults.count(stopStart)
		w.restart()
		w.say("stop and start")
	default:
		w.crashSoon()
	}
}

// pay makes the company pay, perhaps with a fault.
func (w *world) pay(stormy bool) {
	w.t.Helper()
	kind, story := choose(w, data, data, airtime, payout, payout, card), choose(w, stories...)
	fault := ""
	if !stormy && w.chance.IntN(100) < 40 {
		story, fault = "10", choose(w, append(ofPayment, late, late, forgotten, forgotten, twins, twins, crashCommit, crashCommit, crashTime)...)
	}
	if fault == late || fault == forgotten && kind == card {
		kind = data
	}
	if fault == forgotten && len(w.client.Open()) > 0 {
		fault = "" // an older operation would be denied after its grace period too
	}
	storm := w.lull(stormy)
	o := w.newOrder(kind, story)
	o.what = cmp.Or(fault, storm)
	w.faults.set("", storm)
	switch fault {
	case "":
		w.submit(o)
	case late:
		w.payLate(o)
	case forgotten:
		w.payForgotten(o)
	case twins:
		w.faults.count(twins)
		w.twice(o)
		w.submit(o)
	case crashCommit, crashTime:
		w.crashDuring(fault, func() { w.submit(o) })
	default:
		w.faults.set(fault, "")
		w.submit(o)
		w.faults.set("", "")
	}
}

// lull interrupts a storm until the program calls its providers again, and has a token of the bank. So
// the payment that follows reaches the provider, and then suffers from the storm. It returns the storm.
func (w *world) lull(stormy bool) (storm string) {
	w.t.Helper()
	if stormy {
		storm = w.faults.calm()
		w.wait(calm)
		w.enquire("0123456710", fmt.Sprintf("lull-%d-%d", w.day, w.step))
	}
	return storm
}

// payLate makes the provider carry the payment out later.
func (w *world) payLate(o *order) {
	w.t.Helper()
	by := choose(w, 3*time.Minute, 12*time.Minute, 40*time.Minute, 3*time.Hour)
	a, err := w.client.Raw(w.t.Context(), http.MethodPost, "/sandbox/next-payment", map[string]string{"late": by.String()})
	if err != nil || a.Status != http.StatusOK {
		w.t.Fatalf("%s, %v", a, err)
	}
	w.faults.count(late)
	o.late = true
	w.submit(o)
	w.linger()
}

// linger lets some minutes pass, so that the resolver asks several times before the grace period ends.
func (w *world) linger() {
	w.t.Helper()
	for _, d := range []time.Duration{6 * time.Second, 30 * time.Second, 2 * time.Minute, 6 * time.Minute} {
		w.advance(d)
	}
}

// payForgotten loses the answer to a payment. For a few minutes the provider then denies that it knows
// the payment. That is less than the grace period of the resolver.
func (w *world) payForgotten(o *order) {
	w.t.Helper()
	w.faults.set(doneCut, "")
	w.submit(o)
	w.faults.set("", "")
	w.faults.count(forgotten)
	w.faults.deny(o.reference)
	w.linger()
	w.faults.deny("")
}

// crashDuring crashes the program while act runs, or soon after it.
func (w *world) crashDuring(fault string, act func()) {
	w.t.Helper()
	l := w.life
	if fault == crashCommit {
		l.commits.Store(int64(1 + w.chance.IntN(4)))
	} else {
		timer := time.AfterFunc(time.Duration(w.chance.IntN(3_000_000))*time.Microsecond, l.crash)
		defer timer.Stop()
	}
	act()
	w.wait(3 * time.Second)
	if w.life == l && !l.isDead() {
		l.crash()
		fault = crashQuiet
	}
	w.faults.count(fault)
	w.revive()
}

// crashSoon crashes the program while the clock moves, so while it catches up with its work.
func (w *world) crashSoon() {
	w.t.Helper()
	w.say("a crash while the clock moves")
	w.crashDuring(choose(w, crashCommit, crashTime), func() { w.advance(10 * time.Minute) })
}

// credit pays into an account of the company or of its customer.
func (w *world) credit() {
	w.t.Helper()
	body := map[string]any{"accountNumber": choose(w, w.client.SettlementAccountNumber, w.customer), "senderName": "BOLA SAMPLE"}
	fault := choose(w, "", "", duplicates, unnoticed, crashCommit, crashTime)
	switch fault {
	case duplicates:
		body["duplicate"] = 1 + w.chance.IntN(20)
		w.faults.count(fault)
	case unnoticed:
		body["silent"] = true
		w.faults.count(fault)
	}
	amount := money.Kobo(10_000 + w.chance.IntN(1_000_000))
	w.payIn(body, amount)
	w.say("a credit of %s, %s", amount, fault)
	if fault == crashCommit || fault == crashTime {
		w.crashDuring(fault, func() {})
	}
}

// payIn makes the bank credit an account.
func (w *world) payIn(body map[string]any, amount money.Kobo) {
	w.t.Helper()
	body["amount"] = amount
	a, err := w.client.Raw(w.t.Context(), http.MethodPost, "/sandbox/credit", body)
	if err != nil || a.Status != http.StatusOK {
		w.t.Fatalf("day %d step %d: credit: %s, %v", w.day, w.step, a, err)
	}
	var said struct{ Data struct{ SessionID string } }
	a.Into(w.t, &said)
	w.credits[said.Data.SessionID] = amount
	w.paid += amount
	w.report.Credits++
}

// invoice is a virtual account for one payment.
type invoice struct{ id, want string }

// invoice generates a virtual account, and pays into it in time, too late, too much, or not at all.
func (w *world) invoice() {
	w.t.Helper()
	amount := money.Kobo(1+w.chance.IntN(5000)) * money.Naira
	name := fmt.Sprintf("invoice-%d", len(w.invoices)+1)
	a := w.send("/api/v1/virtual-account/generate", map[string]any{"amount": amount, "externalReference": name}, name)
	var said struct {
		Data struct {
			ID     string `json:"virtual_trx_id"`
			Number string `json:"accountNumber"`
		}
	}
	a.Want(w.t, http.StatusOK).Into(w.t, &said)
	v := &invoice{id: said.Data.ID, want: "FAILED"}
	w.invoices = append(w.invoices, v)
	how := choose(w, "in time", "in time", "too late", "too much", "not")
	body := map[string]any{"accountNumber": said.Data.Number, "senderName": "BOLA SAMPLE"}
	switch how {
	case "in time":
		v.want = "SUCCESS"
		w.payIn(body, amount)
		w.wait(5 * time.Second) // otherwise the clock may move past the expiry before the notification is worked
	case "too late":
		w.advance(20 * time.Minute)
		w.payIn(body, amount)
	case "too much":
		w.payIn(body, amount+money.Naira)
	}
	w.say("%s of %s, paid %s", name, amount, how)
}

// returnPayout makes the bank return a payout that has arrived.
func (w *world) returnPayout() {
	w.t.Helper()
	var list []*order
	for _, o := range w.orders {
		if o.kind == payout && o.status == "SUCCESS" && !o.returned {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return
	}
	o, quiet := choose(w, list...), w.chance.IntN(3) == 0
	body := map[string]any{"reference": o.reference, "silent": quiet}
	a, err := w.client.Raw(w.t.Context(), http.MethodPost, "/sandbox/reverse", body)
	if err != nil || a.Status != http.StatusOK {
		w.t.Fatalf("day %d step %d: %s returns: %s, %v", w.day, w.step, o.name, a, err)
	}
	o.returned = true
	if quiet {
		w.faults.count(unnoticed)
	}
	w.say("%s returns, silent: %v", o.name, quiet)
}
