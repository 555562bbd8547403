package console

import (
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
)

// keyWords names an API key.
func keyWords(k api.APIKey) string {
	end := optional(k.Ending)
	if end != "" {
		end = "…" + end
	}
	if name := optional(k.Name); name != "" {
		return name + " " + end
	}
	if end == "" {
		return ending(k.ID)
	}
	return end
}

func issueWord(twoPeople bool) string {
	if twoPeople {
		return "Ask for a key"
	}
	return "Issue a key"
}

func rejectWord(own bool) string {
	if own {
		return "Withdraw"
	}
	return "Reject"
}

func twoPeopleWords(required bool) string {
	if required {
		return "two people"
	}
	return "one person"
}

// peopleTitle is the head of a list of people.
func peopleTitle(n int) string { return count(n, "person", "people") }

// isByProgram reports whether a program with an API key asked for what waits.
func isByProgram(a api.Approval) bool {
	_, isKey := cutPrefix(a.AskedBy, "key:")
	return isKey
}

// firstWords says who has approved what a program asked for.
func firstWords(a api.Approval) string {
	if a.FirstApprovedBy == nil {
		return "Nobody has approved it yet."
	}
	return "The first was " + authorWords(*a.FirstApprovedBy) + "."
}

// cutPrefix is strings.CutPrefix, for templates.
func cutPrefix(text, prefix string) (rest string, has bool) { return strings.CutPrefix(text, prefix) }

// usedWords says how long ago an API key was used, and from where.
func usedWords(now time.Time, at, from *string) string {
	if at == nil {
		return "no use is known"
	}
	return "last used " + age(now.Sub(instant(*at))) + " ago from " + optional(from)
}
