package console

import (
	"strings"

	"github.com/kobo-waas/kobo/internal/operation"
)

// The outcome of a payment can be contradicted: it was refunded, and the bank says later that it paid it. Kobo moves no money on such news,
// because either answer may be the wrong one. Until people know more, no page may say that the payment was not made.

// doubtChip returns the chip of a payment whose outcome is contradicted. The word is "" if it is not.
func doubtChip(doubt *string, isPaid bool) (kind, word string) {
	switch {
	case doubt == nil:
		return "", ""
	case isPaid:
		word = "Paid, in doubt"
	default:
		word = "Refunded, in doubt"
	}
	if *doubt == operation.InDoubt.String() {
		return "case", word
	}
	return "failed", word
}

// doubtWords says what contradicts the outcome, and what to do.
func doubtWords(doubt *string, isPaid bool, otherSide string) string {
	switch {
	case doubt == nil:
		return ""
	case isPaid:
		return " But " + otherSide + " has also said that it was not carried out, or that the money came back. Kobo's operators look into it. Do not pay again."
	case *doubt == operation.InDoubt.String():
		return " But " + otherSide + " has also said that it carried it out, or has not said anything certain, so it may have been paid too. Kobo's operators look into it. Do not pay again."
	}
	return " But " + otherSide + " has also said that it carried it out, so it may have been paid too. Kobo's operators have decided about it. Ask them before you pay again."
}

// doubtOf returns a doubt as the API has it.
func doubtOf(d operation.Doubt) *string {
	if text := d.String(); text != "" {
		return &text
	}
	return nil
}

// doubtSentence says what contradicts the outcome.
func (s story) doubtSentence() string {
	return sentence(strings.TrimPrefix(doubtWords(s.Doubt, optional(s.Word) == "paid", s.otherSide()), " But "))
}

// doubtToSay returns a true sentence for the customer of a payment whose outcome is contradicted.
func (s story) doubtToSay() string {
	if *s.Doubt == operation.InDoubt.String() {
		return sentence(s.otherSide()) + " has answered in two ways about it, so we are asking by hand. Please do not send it again."
	}
	return sentence(s.otherSide()) + " has answered in two ways about it. We have looked into it by hand. Please ask us before you send it again."
}
