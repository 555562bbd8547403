package console

import (
	"regexp"
	"strconv"
	"strings"
)

// The timeline of the API has states and outcomes as words of the wire. Pages say them in the words of people.
var (
	wireState    = regexp.MustCompile(`^(PENDING|SUCCESS|FAILED|REVERSED), ([0-9]+) polls in all; (?:last answer|decided by) ([a-z]*) ?\(([^)]*)\)(.*)$`)
	wireDelivery = regexp.MustCompile(`\b(PENDING|DELIVERED|FAILED), ([0-9]+) attempts`)
	wireSaid     = regexp.MustCompile(`^(?:confirmed|rejected|unknown|missing) \(([^)]*)\) ?(.*)$`)
	reasonAtEnd  = regexp.MustCompile(`, [a-z]+(?:_[a-z]+)+$|, declined$|, unstated$`) // of a request
	wireAnswer   = regexp.MustCompile(`^([a-z]+)(?: \(([^)]*)\))?$`)
)

// outcomeWords says the state of an operation, how often the provider was asked again, and what decided.
func outcomeWords(text string) string {
	m := wireState.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	out := map[string]string{"PENDING": "No outcome yet", "SUCCESS": "Carried out", "FAILED": "Failed, refunded", "REVERSED": "Reversed, refunded"}[m[1]]
	if n, err := strconv.Atoi(m[2]); err == nil && n > 0 {
		out += ". Asked again " + count(n, "time", "times")
	}
	return out + ". The answer: " + strings.TrimSpace(answerWords(m[3]+" ("+m[4]+")")+strings.TrimRight(":"+m[5], ": "))
}

// answerWords says an answer of a provider, such as unknown (400).
func answerWords(text string) string {
	m := wireAnswer.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	out := answerWord(m[1])
	if m[2] != "" {
		out += ", code " + m[2]
	}
	return out
}

// answerWord says the outcome of an answer, such as unknown.
func answerWord(outcome string) string {
	if word, known := map[string]string{"confirmed": "carried out", "rejected": "refused", "unknown": "no outcome", "missing": "no such payment"}[outcome]; known {
		return word
	}
	return outcome
}

// codeWords returns the rest of an answer such as "rejected (57) Not permitted", of which a chip says the outcome.
func codeWords(said string) string {
	m := wireSaid.FindStringSubmatch(said)
	switch {
	case m == nil:
		return said
	case m[1] == "":
		return m[2]
	case m[2] == "":
		return "code " + m[1]
	}
	return "code " + m[1] + ": " + m[2]
}

// deliveryWords says the state of a delivery and the number of its attempts.
func deliveryWords(text string) string {
	return wireDelivery.ReplaceAllStringFunc(text, func(one string) string {
		m := wireDelivery.FindStringSubmatch(one)
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return one
		}
		state := map[string]string{"PENDING": "waits", "DELIVERED": "delivered", "FAILED": "given up"}[m[1]]
		return state + ", " + count(n, "attempt", "attempts")
	})
}
