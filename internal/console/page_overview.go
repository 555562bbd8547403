package console

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/money"
)

func (c *console) overviewRoutes() map[string]route {
	return map[string]route{"GET /console/overview": {show: showOverview}}
}

func showOverview(v *visit) (view, error) {
	var o admin.Overview
	_, err := v.call("findOverview", admin.Input{}, &o)
	return view{title: "Overview", item: "overview", body: overviewPage(v, glance{o, v})}, err
}

// today returns the day in Lagos, as addresses have it.
func (v *visit) today() string { return v.now().In(lagos).Format(time.DateOnly) }

// glance is the overview as the page shows it.
type glance struct {
	admin.Overview
	v *visit
}

// need is something that needs a person.
type need struct {
	kind, word string     // of the chip
	what       string     // the thing, in bold
	rest       string     // the rest of the sentence
	sum        money.Kobo // what it is worth, where that says how bad it is
	since      time.Time  // zero for something without an age
	path, act  string     // where a person settles it; "" if there is no such page
}

// link sets the address at which a person settles something, if the console has the page.
func (n need) link(v *visit, pattern, path, act string) need {
	if v.has("GET " + pattern) {
		n.path, n.act = path, act
	}
	return n
}

// needs returns what needs a person, the worst first: within one kind what is worth most, and then the oldest.
func (g glance) needs() []need {
	var out []need
	for _, some := range [][]need{g.broken(), g.cases(), g.unknowns(), g.decisions(), g.breaks(), g.failing()} {
		slices.SortStableFunc(some, func(a, b need) int { return cmp.Or(cmp.Compare(b.sum, a.sum), a.since.Compare(b.since)) })
		out = append(out, some...)
	}
	return out
}

// broken are signs that the ledger or the whole service is not sound.
func (g glance) broken() (out []need) {
	if n := g.Differences; n > 0 {
		out = append(out, need{kind: "case", word: "Ledger", what: count(int(n), "company", "companies"), rest: "whose ledger does not add up: run kobo verify"})
	}
	if n := g.ClosedAccounts; n > 0 {
		out = append(out, need{kind: "case", word: "Closed", what: count(int(n), "account", "accounts"), rest: "closed to debits, because rows do not verify"}.
			link(g.v, "/console/cases", "/console/cases?reason=BROKEN_CHAIN", "Decide"))
	}
	if g.Door.Closed {
		out = append(out, need{kind: "failed", word: "Closed", what: "The companies’ API:", rest: optional(g.Door.Reason), since: instant(optional(g.Door.Since))})
	}
	return out
}

// reasonWords say what the cases of a reason are about.
var reasonWords = map[string]string{
	"UNRESOLVED": "no outcome for three days", "CONTRADICTION": "the provider has told two truths", "ORDER_AMOUNT": "another amount than ordered",
	"LATE_ATTEMPT": "a refused attempt was carried out late", "UNKNOWN_ACCOUNT": "money for an account that nobody has",
	"UNREADABLE_NOTIFICATION": "a provider’s notification could not be read", "CARD_BALANCE": "a card’s balance is not what was funded",
	"BROKEN_CHAIN": "rows of the ledger do not verify", "MISSING_CREDIT": "a credit on the statement that the ledger lacks",
	"UNKNOWN_DEBIT": "a debit that nothing of ours asked for", "DUPLICATE_DEBIT": "the bank has debited twice",
	"FAILED_REVERSAL": "a payment and its return disagree", "AMOUNT_DIFFERS": "the bank has another amount",
	"NOT_ON_STATEMENT": "the statement lacks what the ledger has", "UNBOOKED_CHARGE": "charges of the bank that nobody has booked",
}

func (g glance) cases() (out []need) {
	for _, c := range g.Cases {
		rest := reasonWords[c.Name]
		if c.Amount != 0 {
			rest = strings.TrimPrefix(rest+", "+naira(c.Amount)+" in all", ", ")
		}
		n := need{kind: "case", word: count(int(c.Count), "case", "cases"), what: sentence(words(c.Name)) + ":", rest: rest, sum: c.Amount, since: instant(optional(c.Oldest))}
		if c.Name == "BROKEN_CHAIN" {
			n.sum = math.MaxInt64 // an account is closed, whatever it is worth
		}
		out = append(out, n.link(g.v, "/console/cases", "/console/cases?reason="+url.QueryEscape(c.Name), "Decide"))
	}
	return out
}

func (g glance) unknowns() (out []need) {
	for _, u := range g.Unknown {
		n := need{kind: "unknown", word: "Unknown", what: count(int(u.Count), "payment", "payments"), rest: "at " + providerName(u.Name) + ", " + naira(u.Amount) + " in clearing", since: instant(optional(u.Oldest))}
		n = n.link(g.v, "/console/system/providers/{name}", "/console/system/providers/"+url.PathEscape(u.Name), "See provider")
		out = append(out, n.link(g.v, "/console/payments", "/console/payments?state=unknown&provider="+url.QueryEscape(u.Name), "See all"))
	}
	return out
}

// decisions are acts that wait for a second operator.
func (g glance) decisions() (out []need) {
	if p := g.Proposals; p.Count > 0 {
		n := need{kind: "propose", word: itoa(p.Count) + " waiting", what: count(int(p.Count), "proposal", "proposals"), rest: "of another person", since: instant(optional(p.Oldest))}
		out = append(out, n.link(g.v, "/console/waiting", "/console/waiting", "Review"))
	}
	if a := g.Adjustments; a.Count > 0 {
		n := need{kind: "propose", word: itoa(a.Count) + " waiting", what: count(int(a.Count), "adjustment", "adjustments"), rest: "of " + naira(a.Amount), since: instant(optional(a.Oldest))}
		out = append(out, n.link(g.v, "/console/waiting", "/console/waiting", "Review"))
	}
	return out
}

// reconcileLate is the age from which a bank's last comparison needs a person. One comes every day.
const reconcileLate = 26 * time.Hour

// breaks are comparisons of statements that failed, found differences or did not happen, and money without an owner.
func (g glance) breaks() (out []need) {
	for _, r := range g.Reconciliations {
		at := instant(r.At)
		n := need{kind: "failed", word: "Break", what: providerName(r.Provider) + ":", since: at}
		switch {
		case r.Trouble != nil:
			n.rest = "its statement could not be compared"
		case r.Undecided > 0:
			n.rest = count(int(r.Undecided), "difference", "differences") + " between the statement and the ledger"
		case g.v.now().Sub(at) > reconcileLate:
			n.word, n.rest = "Late", "its statement was not compared for a day"
		default:
			continue
		}
		out = append(out, n.link(g.v, "/console/money/runs/{id}", "/console/money/runs/"+r.ID, "Compare"))
	}
	if g.Suspense != 0 {
		out = append(out, need{kind: "failed", word: "Suspense", what: naira(g.Suspense), rest: "in suspense, because its owner is not known"}.
			link(g.v, "/console/cases", "/console/cases?reason=UNKNOWN_ACCOUNT", "Assign"))
	}
	return out
}

// inboxLate is the age from which a notification that is not worked needs a person.
const inboxLate = 10 * time.Minute

// failing are endpoints, jobs and notifications that do not get on.
func (g glance) failing() (out []need) {
	for _, e := range g.Endpoints {
		n := need{kind: "failed", word: "Failing", what: e.CompanyName + ":", rest: "webhook endpoint, " + count(int(e.Failures), "failure", "failures") + " in a row", since: instant(optional(e.Since))}
		out = append(out, n.link(g.v, "/console/companies/{reference}", "/console/companies/"+url.PathEscape(e.Company)+"/webhooks", "Open"))
	}
	if j := g.FailingJobs; j.Count > 0 {
		n := need{kind: "failed", word: "Failing", what: count(int(j.Count), "job", "jobs"), rest: "whose last run has failed", since: instant(optional(j.Oldest))}
		out = append(out, n.link(g.v, "/console/system/jobs", "/console/system/jobs", "See jobs"))
	}
	for _, i := range g.Inbox {
		if oldest := instant(optional(i.Oldest)); g.v.now().Sub(oldest) >= inboxLate {
			n := need{kind: "failed", word: "Late", what: count(int(i.Count), "notification", "notifications"), rest: "of " + providerName(i.Name) + " not worked", since: oldest}
			out = append(out, n.link(g.v, "/console/system/inbox", "/console/system/inbox?status=NEW", "See them"))
		}
	}
	return out
}

// clearingSum returns the money in clearing of all ages.
func (g glance) clearingSum() (sum admin.Sum) {
	for _, c := range g.Clearing {
		sum.Count += c.Count
		sum.Amount += c.Amount
	}
	return sum
}

func (g glance) unknownCount() (n int64) {
	for _, u := range g.Unknown {
		n += u.Count
	}
	return n
}

// banksSum returns the balances at all banks, and when the oldest of them was read. It returns false if no
// balance was read yet.
func (g glance) banksSum() (sum admin.BankBalance, read bool) {
	var balance, difference money.Kobo
	for _, b := range g.Banks {
		sum.Ledger += b.Ledger
		if b.Balance == nil {
			continue
		}
		read, balance, difference = true, balance+*b.Balance, difference+*b.Difference
		if sum.ReadAt == nil || *b.ReadAt < *sum.ReadAt {
			sum.ReadAt = b.ReadAt
		}
	}
	sum.Balance, sum.Difference = &balance, &difference
	return sum, read
}

// paidToday returns the payouts of today that were paid.
func (g glance) paidToday() (paid admin.DayCount) { return g.todayOf("payout", "paid") }

func (g glance) todayOf(kind, outcome string) (sum admin.DayCount) {
	for _, d := range g.Today {
		if d.Kind == kind && d.Outcome == outcome {
			return d
		}
	}
	return sum
}

// confirmed returns the share of today's payouts with an outcome that were paid, in words.
func (g glance) confirmed() string {
	paid := g.todayOf("payout", "paid").Count
	decided := paid + g.todayOf("payout", "failed").Count + g.todayOf("payout", "reversed").Count
	if decided == 0 {
		return "no payout has an outcome yet"
	}
	return shareOf(paid, decided) + " of the decided were paid"
}

// ageWords are the classes of ages of money in clearing.
var ageWords = map[string]struct{ words, kind string }{
	"1m": {"under 1 min", "wait"}, "10m": {"1–10 min", "unknown"}, "2h": {"10 min–2 h", "unknown"}, "72h": {"2–72 h", "unknown"}, "older": {"over 72 h", "failed"},
}

// share returns the width of a bar in percent.
func share(part, of money.Kobo) string {
	if of <= 0 || part <= 0 {
		return "0"
	}
	return itoa(max(int64(part*100/of), 1)) + "%"
}
