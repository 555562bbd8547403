package console

import (
	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/operation"
)

// The outcome of a payment can be contradicted: it was refunded, and the bank says later that it paid it. Kobo moves no money on such news,
// because either answer may be the wrong one. Until people know more, no page may say that the payment was not made.

// doubtChip returns the chip of a payment of a kind whose outcome is contradicted. The word is "" if it is not.
func doubtChip(kind string, doubt *string, isPaid bool) (chip, word string) {
	if doubt == nil {
		return "", ""
	}
	if word = "Refunded, in doubt"; isPaid {
		word = sentence(purposeOf(kind)) + ", in doubt"
	}
	if *doubt == operation.InDoubt.String() {
		return "case", word
	}
	return "failed", word
}

// doubtWords says what contradicts the outcome, without a capital, or returns "".
func (s story) doubtWords() string {
	said := s.otherSide() + " has also said that it "
	switch {
	case s.Doubt == nil:
		return ""
	case optional(s.Word) == "paid":
		return said + "was not " + s.purpose() + ", or that the money came back."
	case *s.Doubt == operation.InDoubt.String():
		return said + "was " + s.purpose() + ", or has not said anything certain, so it may have been " + s.purpose() + " too."
	}
	return said + "was " + s.purpose() + ", so it may have been " + s.purpose() + " too."
}

// doubtAdvice says to a company what to do about a payment whose outcome is contradicted, or returns "".
func (s story) doubtAdvice() string {
	switch {
	case s.Doubt == nil:
		return ""
	case *s.Doubt == operation.InDoubt.String():
		return "Kobo's operators look into it. Do not pay again."
	}
	return "Kobo's operators have decided about it. Ask them before you pay again."
}

// doubtOf returns a doubt as the API has it.
func doubtOf(d operation.Doubt) *string {
	if text := d.String(); text != "" {
		return &text
	}
	return nil
}

// doubtToSay returns a true sentence for the customer of a payment whose outcome is contradicted.
func (s story) doubtToSay() string {
	if *s.Doubt == operation.InDoubt.String() {
		return sentence(s.otherSide()) + " has answered in two ways about it, so we are asking by hand. Please do not send it again."
	}
	return sentence(s.otherSide()) + " has answered in two ways about it. We have looked into it by hand. Please ask us before you send it again."
}

// doubtWords says what contradicts the outcome and what to do, after other sentences, or returns "".
func (t thing) doubtWords() string {
	word := ""
	if t.Status == "SUCCESS" {
		word = "paid"
	}
	s := story{Timeline: admin.Timeline{Kind: t.kind(), Word: &word, Doubt: t.Doubt}}
	if s.Doubt == nil {
		return ""
	}
	return " But " + s.doubtWords() + " " + s.doubtAdvice()
}

// failureLabel is the label of the reason of a failure. In doubt, the reason is only the first of two answers.
func (t thing) failureLabel() string {
	if t.Doubt != nil {
		return "What the bank said first"
	}
	return "Why it failed"
}
