package console

import (
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// toSay returns a true sentence for the customer, or "".
func (s story) toSay() string {
	if s.Doubt != nil {
		return s.doubtToSay()
	}
	next := ""
	if s.Clock != nil && s.Clock.NextAt != nil {
		next = " We ask again at " + instant(*s.Clock.NextAt).In(lagos).Format("15:04") + "."
	}
	switch optional(s.Word) {
	case "sending":
		return "We have asked " + s.otherSide() + " and wait for its answer. Please do not send it again."
	case "accepted":
		return sentence(s.otherSide()) + " has accepted it and has not finished." + next + " Please do not send it again."
	case "unknown":
		return sentence(s.otherSide()) + " has not confirmed yet. Your money is safe." + next + " Please do not send it again."
	case "case":
		return "We are asking " + s.otherSide() + " by hand. Your money is safe. Please do not send it again."
	case "paid":
		out := "It was " + s.purpose() + "."
		if at, why := s.decided(); !at.IsZero() && byHand(why) {
			out += " We have made sure of it by hand: " + day(at, s.now) + " in Lagos."
		} else if !at.IsZero() {
			out += " " + sentence(s.otherSide()) + " has confirmed it: " + day(at, s.now) + " in Lagos."
		}
		if session := s.session(); session != "" {
			out += " The session is " + session + "."
		}
		return out
	case "failed":
		at, why := s.decided()
		out := sentence(s.otherSide()) + " refused it."
		switch {
		case strings.Contains(why, "has no record of this request"):
			out = sentence(s.otherSide()) + " has no record of it, so it was not " + s.purpose() + "."
		case byHand(why):
			out = "It was not " + s.purpose() + ". We have made sure of it by hand."
		}
		out += " " + naira(s.Amount+s.Fee) + " is back in the account"
		if !at.IsZero() {
			out += " since " + day(at, s.now) + " in Lagos"
		}
		return out + "."
	case "reversed":
		return "It was " + s.purpose() + " and came back. " + naira(s.Amount+s.Fee) + " is in the account again."
	}
	return ""
}

// otherSide is who carries a payment out, as customers know it.
func (s story) otherSide() string {
	switch s.Kind {
	case "vtu":
		return "the vendor"
	case "card":
		return "the issuer of the card"
	}
	return "the bank"
}

// decided returns when the outcome was known, and the words of the answer that decided it.
func (s story) decided() (at time.Time, why string) {
	for _, step := range s.Steps {
		if step.What == "state" {
			at, why = instant(step.At), step.Text
		}
	}
	return at, why
}

// byHand reports whether operators decided the outcome, by the words of the answer that decided it.
func byHand(why string) bool { return strings.Contains(why, "("+operation.ByOperator+")") }

// other returns what the counterparty is to the payment.
func (s story) other() string {
	switch s.Kind {
	case "payout":
		return "To"
	case "collection":
		if s.Mate == nil {
			return "Account"
		}
		return "From"
	case "credit":
		return "From"
	case "vtu":
		return "What was bought"
	case "deposit", "withdrawal":
		return "Amount"
	case "request", "approval":
		return "What was asked"
	case "bulk payout":
		return "Size"
	}
	return "With"
}

// session returns the bank's session id of the payment, or "".
func (s story) session() string {
	if s.SessionID != nil {
		return *s.SessionID
	}
	if s.Kind == "payout" {
		return operation.SessionOf(optional(s.ProviderReference))
	}
	return ""
}

// noSession says why a payment has no session id.
func (s story) noSession() string {
	switch {
	case s.Doubt != nil:
		return "none known: the outcome is in doubt"
	case optional(s.Word) == "failed":
		return "none: the bank did not carry it out"
	}
	return "none until the bank names one"
}

// clockWords returns the bold sentence of the outcome clock.
func (s story) clockWords() string {
	switch optional(s.Word) {
	case "sending":
		return sentence(s.atProvider()) + " has been asked."
	case "accepted":
		return sentence(s.atProvider()) + " has accepted it and has not finished."
	case "case":
		return "We are asking " + s.atProvider() + " by hand. Two people decide."
	}
	return "We do not know yet whether " + s.atProvider() + " has " + s.purpose() + " it."
}

// doneWord returns the word of the state of something that no provider is asked about, as the list of payments has it.
func (s story) doneWord() string {
	if s.isCredit() {
		return "Received"
	}
	return "Booked"
}

// purpose returns what the provider does with the money: "paid", "delivered" or "funded".
func (s story) purpose() string { return purposeOf(s.Kind) }

// purposeOf returns what the provider does with the money of a payment of a kind.
func purposeOf(kind string) string {
	switch kind {
	case "vtu":
		return "delivered"
	case "card":
		return "funded"
	}
	return "paid"
}

// place is where money can be.
type place struct {
	label  string
	amount money.Kobo
	isHere bool
}

// places returns the three steps on the way of a payment's money, and at which one it is.
func (s story) places() []place {
	if s.Word == nil {
		return nil
	}
	at := 1
	switch *s.Word {
	case "paid":
		at = 2
	case "failed", "reversed":
		at = 0
	}
	out := []place{{label: "Settlement account"}, {label: "Clearing"}, {label: sentence(s.purpose())}}
	if s.Provider != nil {
		out[2].label += " by " + providerName(*s.Provider)
	}
	if at == 0 {
		out[0].label = "Back in the settlement account"
	}
	out[at].amount, out[at].isHere = s.Amount+s.Fee, true
	if s.Doubt != nil && at == 0 {
		out = out[:2] // nobody knows what the provider has paid
	}
	return out
}

// clockMore returns where the money is meanwhile.
func (s story) clockMore() string {
	return naira(s.Amount+s.Fee) + " left the settlement account and waits in clearing. It is neither lost nor sent twice."
}

func (s story) atProvider() string {
	if s.Provider == nil {
		return "the provider"
	}
	return providerName(*s.Provider)
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// askedWords says how often the provider has been asked after the call.
func askedWords(times int) string {
	if times == 0 {
		return "not asked again yet"
	}
	return "asked again " + count(times, "time", "times")
}

// clockAsked returns how often the provider has been asked.
func (s story) clockAsked() string {
	return sentence(askedWords(int(s.Clock.Attempts))) + ". "
}

// clockLater returns what happens if no answer comes.
func (s story) clockLater() (out string) {
	if at := instant(s.Clock.GraceEndsAt); at.After(s.now) {
		out = "Grace period over at " + at.In(lagos).Format("15:04:05") + ". "
	}
	if optional(s.Word) != "case" {
		out += "A case on " + day(instant(s.Clock.CaseDueAt), s.now) + "."
	}
	return out
}
