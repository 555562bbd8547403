package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

func (c *console) timelineRoutes() map[string]route {
	return map[string]route{
		"GET /console/p/{reference}":                {show: showTimeline, query: []string{"lane", "asked"}},
		"POST /console/p/{reference}/ask":           {show: showTimeline, do: askOutcome},
		"POST /console/p/{reference}/account":       {show: showTimeline, do: revealBeneficiary},
		"GET /console/p/{reference}/account/{seen}": {show: showBeneficiary, query: []string{"lane"}},
	}
}

// story is what the timeline page shows of one thing.
type story struct {
	admin.Timeline
	company string             // its name
	lane    string             // "" for all
	paid    *admin.Beneficiary // the account that the payout pays, if the person has asked for it
	now     time.Time
}

func showTimeline(v *visit) (view, error) {
	s, err := v.storyOf(v.PathValue("reference"))
	s.lane = v.filter("lane", "")
	return view{title: s.title(), item: "payments", body: timelinePage(v, s), thing: s.thing()}, err
}

// storyOf reads the story of anything that has an id.
func (v *visit) storyOf(reference string) (story, error) {
	s := story{now: v.now()}
	_, err := v.call("findTimeline", admin.Input{Path: map[string]string{"id": reference}}, &s.Timeline)
	if err == nil && s.Company != nil {
		s.company, err = v.companyName(*s.Company)
	}
	return s, err
}

// askOutcome asks the provider for the outcome. The page then says what came back.
func askOutcome(v *visit) (string, error) {
	_, err := v.call("askOutcome", admin.Input{Path: map[string]string{"id": v.PathValue("reference")}, Body: struct{}{}}, nil)
	return "/console/p/" + v.PathValue("reference") + "?asked=yes", err
}

// lastAnswer returns when the provider has answered last, and its words. The time is zero if it never has.
func (s story) lastAnswer() (at time.Time, said string) {
	for _, step := range slices.Backward(s.Steps) {
		if step.What != "answer" {
			continue
		}
		title, said, _ := strings.Cut(step.Text, ": ")
		if p, isFolded := pollsOf(title); isFolded {
			return p.until, inLagos(said)
		}
		return instant(step.At), inLagos(said)
	}
	return time.Time{}, ""
}

// askableAt returns from when on Kobo asks the provider again for a person.
func (s story) askableAt() time.Time {
	at, _ := s.lastAnswer()
	return at.Add(operation.AskPause)
}

// lanes are the filters of the timeline.
var lanes = []struct{ key, label string }{{"", "All"}, {"money", "Money"}, {"provider", "Provider"}, {"told", "Told"}, {"people", "People"}}

// title returns the amount, the direction and the counterparty, such as "₦18,250.50 to OKAFOR EMEKA".
func (s story) title() string {
	who, _, _ := strings.Cut(optional(s.Counterparty), ",")
	switch s.Kind {
	case "payout":
		return naira(s.Amount) + " to " + who
	case "vtu":
		return naira(s.Amount) + " for " + who
	case "card":
		return naira(s.Amount) + " onto a card"
	case "collection":
		if s.Mate == nil {
			return naira(s.Amount) + " to " + who
		}
		return strings.TrimSuffix(naira(s.Amount)+" from "+who, " from ")
	case "credit", "customer credit":
		return strings.TrimSuffix(naira(s.Amount)+" from "+who, " from ")
	case "adjustment":
		return naira(s.Amount) + " adjusted"
	case "transfer":
		return naira(s.Amount) + " between settlement accounts"
	case "deposit":
		return who + " came in"
	case "withdrawal":
		return who + " went out"
	}
	return kindWord(s.Kind)
}

// thing names the story without its counterparty, who may be a natural person.
func (s story) thing() string {
	out := kindWord(s.Kind) + " " + ending(s.Reference)
	if s.isOnChain() {
		return out
	}
	return withAmount(out, s.Amount)
}

// isOnChain reports whether the story is about money on a chain, which no bank moves.
func (s story) isOnChain() bool { return s.Kind == "deposit" || s.Kind == "withdrawal" }

// isCredit reports whether the story is about money that came in. Nobody of the company has asked for it.
func (s story) isCredit() bool { return s.Kind == "credit" || s.Kind == "customer credit" }

// hasSession reports whether the story is about money that banks move, under a session ID between them.
func (s story) hasSession() bool {
	return slices.Contains([]string{"payout", "credit", "customer credit", "collection"}, s.Kind)
}

// chip returns the kind and the word of the state. "Pending" is no word on a screen, since it hides
// whether the outcome is unknown.
func (s story) chip() (kind, word string) {
	if kind, word = doubtChip(s.Kind, s.Doubt, optional(s.Word) == "paid"); word != "" {
		return kind, word
	}
	switch optional(s.Word) {
	case "sending":
		return "wait", "Sending"
	case "accepted":
		return "wait", "Accepted"
	case "unknown":
		return "unknown", "Unknown for " + age(s.now.Sub(instant(s.CreatedAt)))
	case "case":
		return "case", "Case"
	case "paid":
		return "ok", sentence(s.purpose())
	case "failed":
		return "failed", "Failed, refunded"
	case "reversed":
		return "reversed", "Reversed, refunded"
	}
	if s.isOnChain() {
		return depositChip(s.Status)
	}
	switch s.Kind {
	case "collection":
		return virtualAccountChip(s.Status)
	case "approval":
		return approvalChip(s.Status)
	case "bulk payout":
		return bulkStoryChip(s.Status)
	}
	switch s.Status {
	case "SUCCESS", "COMPLETED", "APPROVED":
		return "ok", s.doneWord()
	case "SUSPENSE":
		return "case", "Owner unknown"
	case "ASSIGNED":
		return "ok", "Assigned to a company"
	case "FAILED", "REJECTED":
		return "failed", sentence(words(s.Status))
	case "PENDING", "PROPOSED":
		return "propose", "Waiting for approval"
	case "OPEN":
		return "case", "Case"
	}
	return "idle", sentence(words(s.Status))
}

// row is a row of the timeline.
type row struct {
	admin.TimelineStep
	at    time.Time
	after time.Duration // since the first row
	day   string        // the day of Lagos, if the row before is not of the same day
	title string
	code  string // of what the row is about, which developers copy
	said  string // the provider's words
	chip  string // the kind of the answer's chip
	word  string // the word of the chip
	moved *moved // if money moved
	// again is the address of the form that sends the event of a delivery again, or "".
	again string
}

// moved is money that moved between two accounts of the ledger.
type moved struct {
	from, to   string // as people say it
	amount     money.Kobo
	left, then *money.Kobo // the balances afterwards, if the reader may see them
}

// rows returns what has happened, in the chosen lane. The state and the next poll stand in the clock.
func (s story) rows() (out []row) {
	var first time.Time
	for _, step := range s.Steps {
		r := row{TimelineStep: step, at: instant(step.At)}
		if first.IsZero() {
			first = r.at
		}
		r.after = r.at.Sub(first)
		if step.What == "next" || step.What == "state" && s.Clock != nil || s.lane != "" && step.Lane != s.lane {
			continue
		}
		if m := step.Transfer; m != nil {
			r.moved = &moved{accountName(m.Debit), accountName(m.Credit), m.Amount, &m.DebitBalance, &m.CreditBalance}
		}
		r.title, r.said = s.rowWords(step)
		r.code = codeOf(step.What, step.Text)
		r.title, r.said = inLagos(r.title), inLagos(r.said)
		r.chip = answerChip(r.said)
		if r.word = sentence(firstWord(r.said)); s.isAcceptance(r.said) {
			r.chip, r.word = "wait", "Accepted"
		}
		r.said = strings.TrimSpace(codeWords(r.said)) // the chip says the outcome
		out = append(out, r)
	}
	return withDays(slices.Clip(out), s.now)
}

// withDays names the day of the first row, and of each row that is of another day than the one before. Times have no day.
func withDays(rows []row, now time.Time) []row {
	before := ""
	for i := range rows {
		if at := dayIn(rows[i].at, now); at != before {
			rows[i].day, before = at, at
		}
	}
	return rows
}

// resendable returns the rows of a story, with the form that sends a delivery again if the person may do it.
func (v *visit) resendable(s story) []row {
	out := s.rows()
	for i, r := range out {
		if r.Delivery != nil && s.Company != nil && v.mayResend() {
			out[i].again = "/console/companies/" + url.PathEscape(*s.Company) + "/deliveries/" + url.PathEscape(*r.Delivery)
		}
	}
	return out
}

// rowWords returns the title of a step, and the words below it.
func (s story) rowWords(step admin.TimelineStep) (title, said string) {
	if title, said = s.waitingWords(step); title != "" {
		return title, said
	}
	switch step.What {
	case "request":
		who, rest, _ := strings.Cut(strings.Replace(step.Text, ": "+routeOf(step.Text), "", 1), " from ")
		return sentence(who) + " sent the request", "from " + reasonAtEnd.ReplaceAllStringFunc(rest, func(code string) string { return ": " + words(code[2:]) })
	case "intent":
		if s.isOnChain() {
			return "Seen on the chain", step.Text
		}
		switch {
		case strings.HasPrefix(step.Text, "collection of "):
			return sentence(s.asker()) + " asked for the virtual account", withProviders(intentWords(step.Text))
		case s.isCredit() || strings.HasPrefix(step.Text, "credit of "):
			return "Money arrived", withProviders(intentWords(step.Text))
		}
		return sentence(s.asker()) + " asked for it", withProviders(intentWords(step.Text))
	case "transfer":
		return naira(step.Transfer.Amount) + " moved", ""
	case "answer":
		title, said, _ = strings.Cut(step.Text, ": ")
		if title == "first call" {
			return "Asked " + providerName(optional(s.Provider)), said
		}
		return askedAgain(title, instant(step.At)), said
	case "state":
		return "Outcome", outcomeWords(step.Text)
	case "delivery":
		return "Delivery", sentence(deliveryWords(withoutName(step.Text)))
	case "event":
		return "Event " + strings.TrimPrefix(withoutName(step.Text), "number "), ""
	case "case":
		return caseWords(step.Text)
	case "approval":
		return "A second person of the company approved it", step.Text
	case "audit":
		return auditWords(step.Text)
	}
	return sentence(step.What), step.Text
}

// polls are successive polls with the same answer, which are one step.
type polls struct {
	times int
	until time.Time // the time of the last one
}

func pollsOf(title string) (polls, bool) {
	var first, last, times int
	var until string
	n, err := fmt.Sscanf(title, "polls %d to %d, %d equal answers, the last at %s", &first, &last, &times, &until)
	return polls{times, instant(until)}, err == nil && n == 4
}

// askedAgain returns the title of polls with the same answer. The last one has its day, unless it is of the day of the first one.
func askedAgain(title string, first time.Time) string {
	p, isFolded := pollsOf(title)
	if !isFolded {
		return "Asked again, " + title
	}
	last := p.until.In(lagos).Format("15:04:05")
	if at := dayLabel(p.until); at != dayLabel(first) {
		last = at + ", " + last
	}
	return fmt.Sprintf("Asked again %d times until %s: the same answer", p.times, last)
}

func (s story) asker() string {
	if s.company != "" {
		return s.company
	}
	return "Kobo itself"
}

// isAcceptance reports whether an answer such as "unknown (09) in progress" says that the provider has accepted the payment.
func (s story) isAcceptance(said string) bool {
	outcome, rest, _ := strings.Cut(said, " (")
	code, _, _ := strings.Cut(rest, ")")
	return operation.IsAccepted(s.Kind, outcome, code)
}

// answerChip returns the kind of chip for a provider's answer, or "".
func answerChip(said string) string {
	outcome, _, _ := strings.Cut(said, " ")
	switch outcome {
	case "unknown", "missing":
		return "unknown"
	case "confirmed":
		return "ok"
	case "rejected":
		return "failed"
	case "accepted":
		return "wait"
	}
	return ""
}

// accountName returns the name of a ledger account as people say it.
func accountName(account string) string {
	kind, name, _ := strings.Cut(account, "/")
	switch kind {
	case "settlement":
		return "Settlement account " + name
	case "clearing":
		return "Clearing"
	case "provider":
		return providerName(name)
	case "charge":
		return "Charges of " + providerName(name)
	}
	return sentence(strings.ReplaceAll(account, "/", " "))
}

// distance returns how long after the first row another one is.
func distance(d time.Duration) string {
	if d < time.Second {
		return "+" + itoa(d.Milliseconds()) + " ms"
	}
	return "+" + age(d)
}
