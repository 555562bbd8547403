package console

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// thing is a payment of the company with all that happened to it.
type thing struct {
	// Outcome is about a payout, purchase or card funding. It is empty for everything else.
	api.Outcome
	story   api.Timeline
	belongs report.Belongings
	payout  *payoutRow // if it is one
	kept    bool       // the company keeps the account that the payout pays
	bought  *boughtRow // if it is a purchase
	loaded  *loadedRow // if it is the funding of a card
	credit  *creditRow // if a bank has reported it
	opened  *openedRow // if it is a virtual account
	lane    string     // of the rows that are shown; "" for all
}

// boughtRow is a purchase as pages show it.
type boughtRow struct {
	Phone          *string `json:"phoneNumber"`
	Card           *string `json:"cardNumber"`
	Meter          *string `json:"meterNumber"`
	Message        *string `json:"message"`
	Token          *string `json:"token"`
	BonusToken     string  `json:"bonusToken"`
	FirstKey       string  `json:"kct1"`
	SecondKey      string  `json:"kct2"`
	ResetToken     string  `json:"resetToken"`
	ConfigureToken string  `json:"configureToken"`
	Units          string  `json:"units"`
	OwnReference   string  `json:"externalReference"`
}

// facts are the labels and the texts of a purchase of a product. The codes of a meter stand in the order in which somebody enters them.
func (b boughtRow) facts(product string) (out []filter) {
	for _, f := range []filter{
		{"Product", product},
		{"Phone", optional(b.Phone)},
		{"Smartcard", optional(b.Card)},
		{"Meter", optional(b.Meter)},
		{"First code for a new key", b.FirstKey},
		{"Second code for a new key", b.SecondKey},
		{"Code for the meter", optional(b.Token)},
		{"Bonus code", b.BonusToken},
		{"Reset code", b.ResetToken},
		{"Configuration code", b.ConfigureToken},
		{"Units", b.Units},
		{"Own reference", b.OwnReference},
		{"The vendor says", optional(b.Message)},
	} {
		if f.value != "" {
			out = append(out, f)
		}
	}
	return out
}

// openedRow is a virtual account as pages show it.
type openedRow struct {
	AccountNumber string `json:"accountNumber"`
	BankName      string `json:"bankName"`
	OwnReference  string `json:"externalReference"`
	ExpiresAt     string `json:"expiryDate"`
}

// loadedRow is the funding of a card as pages show it.
type loadedRow struct {
	CardID       string `json:"cardId"`
	OwnReference string `json:"externalReference"`
}

func showThing(v *visit) (view, error) {
	reference := url.PathEscape(v.PathValue("reference"))
	var y one[api.Timeline]
	if _, err := v.ask("GET", "/api/v1/timeline/"+reference, nil, &y); err != nil {
		return view{}, err
	}
	t := thing{story: y.Data, lane: v.filter("lane", "")}
	var o one[api.Outcome]
	if _, err := v.ask("GET", "/api/v1/outcomes/"+reference, nil, &o); err == nil {
		t.Outcome = o.Data
	} else if !fault.Is(err, fault.Missing) {
		return view{}, err
	}
	if err := v.factsOf(&t, url.PathEscape(t.story.Reference)); err != nil {
		return view{}, err
	}
	var err error
	if t.payout != nil {
		if t.kept, err = v.isKept(t.payout.BankCode, t.payout.AccountNumber); err != nil {
			return view{}, err
		}
	}
	if t.belongs, err = v.belongings(t.story.Reference); err != nil {
		return view{}, err
	}
	title := sentence(t.noun()) + " " + ending(t.story.Reference)
	return view{title: title, item: t.list().item, body: thingPage(v, t), thing: withAmount(title, t.story.Amount)}, nil
}

// factsOf reads what a payout, a purchase, a funding or a credit has of its own.
func (v *visit) factsOf(t *thing, reference string) (err error) {
	switch t.story.Kind {
	case "payout":
		var p one[payoutRow]
		_, err = v.ask("GET", "/api/v1/settlement/payout-status/"+reference, nil, &p)
		t.payout = &p.Data
	case "vtu":
		var p success[boughtRow]
		_, err = v.ask("GET", "/api/v1/vtu/transaction/"+reference, nil, &p)
		t.bought = &p.Data
	case "card":
		var p one[loadedRow]
		_, err = v.ask("GET", "/api/v1/card/transaction/"+reference, nil, &p)
		t.loaded = &p.Data
	case "credit":
		t.credit, err = v.creditOf(t.story.Reference)
	case "collection":
		var c one[openedRow]
		_, err = v.ask("GET", "/api/v1/virtual-account/"+reference, nil, &c)
		t.opened = &c.Data
	}
	return err
}

// isOperation reports whether a provider is asked for the outcome.
func (t thing) isOperation() bool { return t.Type != "" }

// noun says what it is, such as "payout" or "airtime".
func (t thing) noun() string {
	switch t.story.Kind {
	case "vtu":
		return "purchase"
	case "card":
		return "card funding"
	}
	if t.isOperation() {
		return words(t.Type)
	}
	return t.story.Kind
}

// title returns what it is, with its amount and the other side. A movement on a chain has no amount in naira.
func (t thing) title() string {
	sum := naira(t.story.Amount)
	switch {
	case t.story.Amount == 0:
		return sentence(t.noun()) + t.onChain()
	case t.credit != nil && t.credit.SenderName != "":
		return sum + " from " + t.credit.SenderName
	case t.opened != nil && t.opened.AccountNumber != "":
		return sum + " to virtual account " + t.opened.AccountNumber
	case t.bought != nil:
		return sum + " for " + t.belongs.Bought
	}
	return sum + ", " + t.noun()
}

var movedOnChain = regexp.MustCompile(`^(?:deposit|withdrawal)( of \S+ \S+) on `)

// onChain returns how much moved on a chain, such as " of 25 USDT", or "".
func (t thing) onChain() string {
	for _, step := range t.story.Steps {
		if m := movedOnChain.FindStringSubmatch(step.Text); m != nil && step.What == "intent" {
			return m[1]
		}
	}
	return ""
}

// ownList is the list of the company in which a thing stands.
type ownList struct{ item, path, label string }

func (t thing) list() ownList {
	switch t.story.Kind {
	case "payout":
		return ownList{"payouts", "/app/payouts", "Payouts"}
	case "vtu":
		return ownList{"services", "/app/services/purchases", "Purchases"}
	case "card":
		return ownList{"services", "/app/services", "Cards"}
	case "deposit", "withdrawal":
		return ownList{"services", "/app/services/crypto", "Crypto"}
	case "collection":
		return ownList{"money", "/app/money/virtual-accounts", "Virtual accounts"}
	case "customer credit":
		return ownList{"customers", "/app/customers", "Customers"}
	case "credit":
		return ownList{"money", "/app/money", "Money in"}
	}
	return ownList{"money", "/app/money/ledger", "Ledger"}
}

// chip returns the chip of the state.
func (t thing) chip(v *visit) (kind, word string) {
	switch {
	case !t.isOperation():
		return story{Timeline: admin.Timeline{Kind: t.story.Kind, Status: t.story.Status}}.chip()
	case t.Status == "PENDING":
		return pendingState(t.Outcome, v.now())
	case t.Doubt != nil:
		return doubtChip(t.kind(), t.Doubt, t.Status == "SUCCESS")
	}
	return stateChipOf(t.story.Kind, t.Status)
}

// lastAnswer says the last answer of the provider, in the words of the steps.
func (t thing) lastAnswer() string {
	said := answerWords(optional(t.LastAnswer))
	if isAccepted(t.Outcome) {
		return strings.Replace(said, answerWord("unknown"), "accepted", 1)
	}
	return said
}

// sentenceFor says what the state of an operation means for the company.
func (t thing) sentenceFor(now time.Time) string {
	switch {
	case t.Status == "PENDING" && t.NeedsDecision:
		return "The provider is asked by hand. Two people of Kobo's operator decide. Do not pay again."
	case t.Status == "PENDING" && isSending(t.Outcome, now):
		return "The provider has been asked, or is about to be. Do not pay again."
	case t.Status == "PENDING" && isAccepted(t.Outcome):
		return "The provider has accepted it and has not finished. The money waits in clearing. Do not pay again."
	case t.Status == "PENDING":
		return "We do not know yet whether it was carried out. The money waits in clearing. Do not pay again."
	case t.Status == "SUCCESS":
		return t.confirmedWords(now) + t.doubtWords()
	case t.Status == "REVERSED":
		return "It was carried out and came back. The money is back in your account" + t.returnWords(now)
	case t.Doubt != nil:
		return "The money is back in your account" + t.returnWords(now) + t.doubtWords()
	}
	return "It was not carried out. The money is back in your account" + t.returnWords(now)
}

// kind returns the kind of the payment, such as "vtu". A row of a list has no story.
func (t thing) kind() string { return cmp.Or(t.story.Kind, t.Type) }

// endedAt returns when the last transfer of a payment with an outcome was, or a zero time if the steps are not known.
func (t thing) endedAt() (at time.Time) {
	for _, step := range t.story.Steps {
		if step.Transfer != nil {
			at = instant(step.At)
		}
	}
	return at
}

// confirmedWords says who has confirmed the payment and when, of a payout with the session ID.
func (t thing) confirmedWords(now time.Time) string {
	at := t.endedAt()
	switch {
	case at.IsZero():
		return "The provider has confirmed it."
	case t.payout == nil:
		return "Confirmed by the provider " + atTime(at, now) + "."
	case t.payout.SessionID == nil:
		return "Confirmed by the bank " + atTime(at, now) + "."
	}
	return "Confirmed by the bank " + atTime(at, now) + ", session " + *t.payout.SessionID + "."
}

// returnWords says how much came back with the last transfers, and when, at the end of a sentence.
func (t thing) returnWords(now time.Time) string {
	at, back := t.endedAt(), money.Kobo(0)
	for _, step := range t.story.Steps {
		if m := step.Transfer; m != nil && instant(step.At).Equal(at) && strings.HasPrefix(m.To, "settlement/") {
			back += m.Amount
		}
	}
	if back == 0 {
		return "."
	}
	return ": " + naira(back) + " " + atTime(at, now) + "."
}

// told returns a payment as the operators' timeline has it, without the provider: where the money is, what a customer may be
// told, and what comes next. Something without an outcome has no word.
func (t thing) told(now time.Time) story {
	s := story{Timeline: admin.Timeline{Kind: t.story.Kind, Reference: t.story.Reference, Status: t.story.Status, Amount: t.story.Amount, Fee: t.story.Fee}, lane: t.lane, now: now}
	for _, step := range t.story.Steps {
		s.Steps = append(s.Steps, admin.TimelineStep{At: step.At, What: step.What, Text: step.Text, NextAttemptAt: step.NextAttemptAt})
	}
	if !t.isOperation() {
		return s
	}
	word := map[string]string{"SUCCESS": "paid", "FAILED": "failed", "REVERSED": "reversed"}[t.Status]
	if t.Status == "PENDING" {
		word = wordOf(t.Outcome, now)
		s.Clock = &admin.OutcomeClock{Attempts: int64(t.Attempts), NextAt: t.NextTryAt, GraceEndsAt: optional(t.GraceEndsAt), CaseDueAt: optional(t.CaseDueAt)}
	}
	s.Word, s.Doubt = &word, t.Doubt
	if t.payout != nil {
		s.SessionID = t.payout.SessionID
	}
	return s
}

// from returns the settlement account that has paid, or "".
func (t thing) from() string {
	for _, step := range t.story.Steps {
		if step.Transfer != nil && t.isOperation() {
			return accountName(step.Transfer.From)
		}
	}
	return ""
}

// rows returns what has happened, in the chosen lane.
func (t thing) rows() (out []row) {
	var first time.Time
	for _, step := range t.story.Steps {
		if step.What == "state" && t.Status == "PENDING" {
			continue // the clock above says it
		}
		if first.IsZero() {
			first = instant(step.At)
		}
		if t.lane != "" && lanesOf[step.What] != t.lane {
			continue
		}
		r := row{TimelineStep: admin.TimelineStep{At: step.At, What: step.What, Text: step.Text, Lane: lanesOf[step.What], Event: step.Event}, at: instant(step.At)}
		if m := step.Transfer; m != nil {
			r.moved = &moved{accountName(m.From), accountName(m.To), m.Amount, m.FromBalance, m.ToBalance}
		}
		r.after = r.at.Sub(first)
		r.title, r.said = t.stepWords(step)
		r.code = codeOf(step.What, step.Text)
		r.said = inLagos(r.said)
		r.chip, r.word = answerChip(r.said), sentence(answerWord(firstWord(r.said)))
		if (story{Timeline: admin.Timeline{Kind: t.story.Kind}}).isAcceptance(r.said) {
			r.chip, r.word = "wait", "Accepted"
		}
		r.said = strings.TrimSpace(codeWords(r.said))
		out = append(out, r)
	}
	return out
}

// lanesOf has the lane of each kind of step, which is also the name of its icon.
var lanesOf = map[string]string{"request": "request", "intent": "request", "transfer": "money", "answer": "provider", "state": "provider", "event": "told", "delivery": "told", "case": "people", "approval": "people"}

// stepWords returns the title of a step for the company's people, and the words below it.
func (t thing) stepWords(step api.TimelineStep) (title, said string) {
	switch step.What {
	case "transfer":
		return naira(step.Transfer.Amount) + " moved", ""
	case "intent":
		return t.beginning(step.Text), withProviders(intentWords(step.Text))
	case "answer":
		if title, said, _ = strings.Cut(step.Text, ": "); title == "first call" {
			return "The provider was asked", said
		}
		return askedAgain(title, instant(step.At)), said
	case "approval":
		return "A second person approved it", step.Text
	case "case":
		return "Kobo's operators look into it", sentence(words(step.Text))
	}
	return story{}.rowWords(admin.TimelineStep{What: step.What, Text: step.Text})
}

// beginning says how it began. The text is that of the step.
func (t thing) beginning(text string) string {
	if strings.HasPrefix(text, "collection of ") {
		return "Your company asked for the virtual account"
	}
	switch t.story.Kind {
	case "collection":
		return "Money arrived"
	case "credit", "customer credit":
		return "Money arrived"
	case "deposit", "withdrawal":
		return "Seen on the chain"
	case "adjustment":
		return "Kobo's operators corrected the balance"
	}
	return "Your company asked for it"
}
