package torture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// Result is what one check found.
type Result struct {
	Check    string   `json:"check"`
	Compared int      `json:"compared"` // the facts that were compared
	Left     int      `json:"left"`     // the facts that take too long to compare
	Findings []string `json:"findings"`
}

func (r *Result) wrong(format string, args ...any) {
	r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
}

// check is a statement that must hold after each run.
type check struct {
	name, about string
	do          func(h *History, r *Result)
	always      bool // each run has something to compare
}

var checks = []check{
	{"balances", "each balance is what went in less what went out, to the kobo", balances, true},
	{"entries", "the entries of each account follow each other without a gap, and each has a reason", entries, true},
	{"orders", "each payment is the one that was ordered, took amount and fee once, and gave both back if it failed or came back", orders, true},
	{"executions", "the providers executed each success once, for whom it was ordered, and no failure", executions, true},
	{"outcomes", "no operation is without an outcome", outcomes, true},
	{"credits", "each credit of the bank was booked once", credits, false},
	{"virtual", "each virtual account is paid by its own amount, once, or expired, and one event says so", collected, false},
	{"events", "events have no gap, and each change has one event", events, true},
	{"answers", "no two answers for a key contradict each other or the end", answers, true},
	{"webhooks", "each event arrived as a webhook that its company's secret signs, and that says the same", webhooks, true},
	{"cases", "operators have decided each case that the run expects, and there is no other", cases, false},
	{"restores", "what a restore has lost is found and booked once, and companies wait for operators", restores, false},
	{"decisions", "each payment without an outcome ends as two operators have decided", decisions, false},
	{"verify", "kobo verify and the integrity of each company have no finding", verify, true},
	{"credentials", "each revoked API key and its tokens are refused", credentials, false},
	{"receipts", "the receipts of some payments are valid, and prove these payments", receipts, false},
	{"programs", "no program ended by itself or panicked", programs, true},
	{"kinds", "a run of a minute has a success of each kind of payment and of credit", kinds, false},
	{"order", "the answers of each payment and account have an order in which each is right", linear, true},
}

// Check checks a history.
func Check(h *History) []Result {
	out := make([]Result, 0, len(checks))
	for _, c := range checks {
		r := Result{Check: c.name}
		c.do(h, &r)
		if c.always && r.Compared == 0 {
			r.wrong("nothing was compared")
		}
		out = append(out, r)
	}
	return out
}

// place is a settlement account of a company.
type place struct {
	company string
	account int64
}

// balances compares each balance with what the run did, the providers executed and Kobo's final
// states say. It does not read the entries.
func balances(h *History, r *Result) {
	want := map[place]money.Kobo{}
	bank := h.executed()
	for _, c := range h.Calls {
		if c.Kind == adjustment && c.State == success && !h.mayBeLost(c) {
			want[place{c.Company, c.Account}] += c.Amount
		}
	}
	for _, b := range h.Facts.Companies {
		for _, a := range b.Accounts {
			want[place{b.Reference, a.ID}] += a.Opening
		}
		for _, e := range b.Events {
			if isCredit(e.Kind) {
				want[place{b.Reference, e.Account}] += bank[e.Subject].Amount
			}
		}
		for _, p := range b.Payments {
			if p.State == success || p.State == pending {
				want[place{b.Reference, p.Account}] -= p.Amount + p.Fee
			}
		}
	}
	for _, b := range h.Facts.Companies {
		for _, a := range b.Accounts {
			r.Compared++
			if w := want[place{b.Reference, a.ID}]; a.Balance != w {
				r.wrong("account %d of %s holds %s, not %s", a.ID, b.Reference, a.Balance, w)
			}
			delete(want, place{b.Reference, a.ID})
		}
	}
	for at, w := range want {
		if w != 0 {
			r.wrong("account %d of %s is not there, and must hold %s", at.account, at.company, w)
		}
	}
}

func outcomes(h *History, r *Result) {
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			if r.Compared++; p.State == pending {
				r.wrong("the %s %s is PENDING", p.Kind, p.Reference)
			}
		}
		for _, reference := range b.Open {
			r.wrong("the operation %s has no outcome", reference)
		}
	}
}

// cases lets only some payments be cases, because all else has an answer without people. Some
// were executed after their refund; they need a break that delays a provider or moves the clock.
// Others stay without an outcome at their provider. The rest was lost by a restore.
func cases(h *History, r *Result) {
	judge := h.caseJudge()
	for _, c := range h.Facts.Cases {
		r.Compared++
		if wrong := judge.finding(c); wrong != "" {
			r.wrong("%s", wrong)
		}
	}
	h.kept(r)
}

// caseJudge has what a run expects of its cases.
type caseJudge struct {
	*History
	late    map[string]bool    // payments that may have been executed late
	overdue map[string]bool    // payments after which three days of the load passed
	done    map[string]bool    // payments that their provider has executed
	unended map[string]Payment // payments that their provider leaves without an outcome
	lost    map[string]Call    // payments of a lost time
	of      map[string]string  // the company of each payment
	seen    map[[2]string]bool // the reasons and subjects of earlier cases
}

func (h *History) caseJudge() *caseJudge {
	j := &caseJudge{
		History: h, late: map[string]bool{}, overdue: map[string]bool{}, done: map[string]bool{}, unended: h.unendedPayments(), lost: h.lostPayments(),
		of: map[string]string{}, seen: map[[2]string]bool{},
	}
	bank, orders := h.executed(), h.orders()
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			executed := bank[p.Reference].Executions > 0
			j.late[p.Reference] = p.State == failed && executed && slices.ContainsFunc(orders[p.Reference], h.mayBeLate)
			j.overdue[p.Reference], j.done[p.Reference] = slices.ContainsFunc(orders[p.Reference], h.isOverdue), executed
			j.of[p.Reference] = b.Reference
		}
	}
	return j
}

// notAsked is how a case ends about a payment of which the provider could not be asked at last. Days of a load pass within seconds, and a program that
// has asked in vain too often asks nobody for some real seconds.
const notAsked = "last answer: not_sent"

// finding says what is wrong with the case, or "".
func (j *caseJudge) finding(c Case) string {
	_, open := j.unended[c.Subject]
	open = open || c.Reason == unresolved && j.overdue[c.Subject] && (!j.done[c.Subject] || strings.HasSuffix(c.Detail, notAsked))
	name := [2]string{c.Reason, c.Subject}
	twice := j.seen[name]
	j.seen[name] = true
	switch {
	case !(isLate(c.Reason) && j.late[c.Subject]) && !(open && (c.Reason == unresolved || isLate(c.Reason))) && !j.ofLost(c, j.lost):
		return fmt.Sprintf("the case %s about %s: %s", c.Reason, c.Subject, c.Detail)
	case c.Status != "RESOLVED":
		return fmt.Sprintf("the case %s about %s is %s", c.Reason, c.Subject, c.Status)
	case j.of[c.Subject] != "" && c.Company != j.of[c.Subject]:
		return fmt.Sprintf("the case %s about %s is one of %s, and the payment is one of %s", c.Reason, c.Subject, c.Company, j.of[c.Subject])
	case isLate(c.Reason) && c.Outcome != dismissed:
		return fmt.Sprintf("two operators have dismissed the case %s about %s, and it is %q", c.Reason, c.Subject, c.Outcome)
	case decides[c.Reason] != "" && c.Outcome != decides[c.Reason]:
		return fmt.Sprintf("two operators have decided %q about the case %s about %s, and it is %q", decides[c.Reason], c.Reason, c.Subject, c.Outcome)
	case twice:
		return fmt.Sprintf("two cases %s are about %s", c.Reason, c.Subject)
	}
	return ""
}

// decides are the decisions of the operators about what a restore has lost.
var decides = map[string]string{unknownDebit: dismissed, missingCredit: dismissed, notOnStatement: dismissed, unknownAccount: assigned}

// mayBeLate reports whether the provider may execute a payment late because of this order: a break delayed the next payment at the time, the clock
// jumped, or the program was frozen or ended meanwhile. After a break that keeps all orders away, the next payment comes up to a minute later.
func (h *History) mayBeLate(order Call) bool {
	const next, before, after = time.Minute, 5 * time.Second, 30 * time.Second
	begin, end := time.Duration(order.Begin)*time.Microsecond, time.Duration(order.End)*time.Microsecond
	return slices.ContainsFunc(h.Breaks, func(b Break) bool {
		from, to := b.At, b.At
		switch b.Kind {
		case latePayment:
			return !h.missed(b) && from >= begin-next && from <= end
		case freezing:
			to += b.For
		case restore, oldCopy:
			to = time.Duration(b.Lost.Open) * time.Microsecond
		case clockJump:
		default:
			return false
		}
		return to >= begin-before && from <= end+after
	})
}

// isOverdue reports whether three days of the load passed after the order. Kobo believes that a provider has no such reference only after a
// quarter of an hour without a jump of the clock, or a start of the program that asks. A load may leave none for three days of its clock.
func (h *History) isOverdue(order Call) bool {
	const tooOld = 71 * time.Hour // the schedule has its last question between 71 and 72 hours
	var passed time.Duration
	for _, b := range h.Breaks {
		if b.Kind == clockJump && b.At.Microseconds() >= order.Begin {
			passed += b.For
		}
	}
	return passed >= tooOld
}

// brokeBy reports whether the run did one of these things to Kobo.
func (h *History) brokeBy(kinds ...string) bool {
	return slices.ContainsFunc(h.Breaks, func(b Break) bool { return slices.Contains(kinds, b.Kind) && !h.missed(b) })
}

func verify(h *History, r *Result) {
	r.Findings = append(r.Findings, h.Facts.Verify...)
	r.Compared = int(h.Facts.Read)
	shown := 0
	for _, b := range h.Facts.Companies {
		if shown += len(b.Entries); !b.Intact {
			r.wrong("GET /api/v1/integrity of %s has findings", b.Reference)
		}
	}
	if h.Run.Format == 0 && r.Compared == 0 {
		r.Compared = shown // an old history does not say how many
	}
	if r.Compared < shown {
		r.wrong("kobo verify has read %d entries of %d", r.Compared, shown)
	}
}

// programs counts the starts. A start may have to be repeated shortly after a break of the database or a restore, and not otherwise.
func programs(h *History, r *Result) {
	const shortly = 30 * time.Second
	if r.Compared = h.Facts.Started; h.Run.Format < countsStarts {
		r.Compared = h.Run.Programs
	}
	r.Findings = append(append(r.Findings, h.Facts.Starts...), h.Facts.Panics...)
	for _, f := range h.Facts.Again {
		at := time.Duration(f.At) * time.Microsecond
		if !slices.ContainsFunc(h.Breaks, func(b Break) bool {
			_, ofDatabase := lengths[b.Kind]
			to := b.At + b.For
			if b.Lost != nil {
				to = time.Duration(b.Lost.Up) * time.Microsecond
			}
			return (ofDatabase || b.Kind == cutting || b.Lost != nil) && b.At <= at && at <= to+shortly
		}) {
			r.wrong("a start did not succeed %s after the begin of the run: %s", at.Round(time.Second), f.Says)
		}
	}
}

// kinds checks that a run of a minute or more has something of everything that moves money: a success of each kind of payment, a credit of the
// company, of a customer and of a virtual account. Where days pass, operators must have decided something during the load.
func kinds(h *History, r *Result) {
	const enough = time.Minute
	if h.Run.Duration < enough || h.Run.Format < countsStarts {
		return
	}
	done := map[string]int{}
	for _, p := range h.Facts.payments() {
		if p.State == success {
			done[p.Kind]++
		}
	}
	for _, b := range h.Facts.Companies {
		for _, e := range b.Events {
			if isCredit(e.Kind) {
				done[e.Kind]++
			}
		}
	}
	for _, kind := range []string{purchase, payout, funding, "settlement.credit", "transaction.credit", "virtual_account.success"} {
		r.Compared += done[kind]
		if done[kind] == 0 {
			r.wrong("the run has no %s that succeeded", kind)
		}
	}
	if h.Run.Format >= countsMoves && h.mustMove() && len(h.Facts.Moved) == 0 {
		r.wrong("the first biller refused sales for seconds of the load, and no purchase moved to the second one")
	}
	if h.mustDecide() && !slices.ContainsFunc(h.Calls, func(c Call) bool { return c.Kind == deciding && c.State != unknown }) {
		r.wrong("payments stayed without an outcome for days of the load, and operators decided nothing")
	}
}
