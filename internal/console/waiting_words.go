package console

import (
	"regexp"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
)

// The timeline of the API tells of approvals and bulk payouts in the words of the wire. This file has the words of people.

var (
	askedStep   = regexp.MustCompile(`^([A-Z_]+) asked for by (\S+), until (\S+)$`)
	decidedStep = regexp.MustCompile(`^([A-Z]+) by (\S*)(?:, after (\S+))?$`)
)

// waitingWords returns the title of a step of an approval or of a bulk payout, and the words below it. It returns "" for any
// other step.
func (s story) waitingWords(step admin.TimelineStep) (title, said string) {
	if s.Kind != "approval" && s.Kind != "bulk payout" {
		return "", ""
	}
	switch step.What {
	case "intent":
		if m := askedStep.FindStringSubmatch(step.Text); m != nil {
			return sentence(operatorWords(m[2])) + " asked for it", approvalKindWords(m[1]) + ". It waits until " + m[3]
		}
	case "state":
		if m := decidedStep.FindStringSubmatch(step.Text); m != nil {
			return sentence(words(m[1])) + by(m[2]), strings.TrimPrefix(by(m[3]), " ")
		}
		first, rest, _ := strings.Cut(step.Text, ": ")
		if first == strings.ToUpper(first) {
			_, first = bulkStoryChip(first)
		}
		return sentence(first), sentence(rest)
	}
	return "", ""
}

// by names who has decided, or returns "" for nobody.
func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + operatorWords(who)
}

// approvalKindWords says what waits for a second person of a company. The kind is in the words of the wire, with _ or spaces.
func approvalKindWords(kind string) string {
	switch strings.ReplaceAll(kind, " ", "_") {
	case "SEND_PAYOUT":
		return "A payout"
	case "CONFIRM_BULK":
		return "A bulk payout"
	case "PAYOUT_RULE":
		return "A change of how many people a payout needs"
	case "ISSUE_API_KEY":
		return "A new API key"
	case "REVOKE_API_KEY":
		return "The end of an API key"
	case "TWO_PEOPLE_OFF":
		return "API keys without a second person"
	}
	return kind
}

// bulkStoryChip returns the chip of a bulk payout for an operator. It waits for the company, and not for the reader.
func bulkStoryChip(state string) (kind, word string) {
	if state == "CHECKED" {
		return "propose", "Waiting for the company"
	}
	return bulkChip(state)
}
