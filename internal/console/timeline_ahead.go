package console

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// ahead is a row of a timeline about what comes next.
type ahead struct {
	at          time.Time
	lane        string // who acts then
	title, text string
	code        string // the name of the event that is delivered
}

// when says how far away the row is: in minutes today, and by its day later.
func (a ahead) when(now time.Time) string {
	if a.at.Sub(now) >= 24*time.Hour {
		return a.at.In(lagos).Format("Mon 2 Jan")
	}
	return until(a.at.Sub(now))
}

// aheadWords are the words of the rows ahead, which operators and companies read differently.
type aheadWords struct{ asked, number, grace, opened, decided string }

var (
	operatorsAhead = aheadWords{
		asked: "Next poll", number: " after the call",
		grace:  "From then on, “no such reference”, three times in a row, gives the money back.",
		opened: "Becomes a case if nobody knows by then", decided: "Two operators decide.",
	}
	companysAhead = aheadWords{
		asked: "The provider is asked again", number: " after the first call",
		grace:  "From then on, the money comes back if the provider says three times in a row that it has no such payment.",
		opened: "People decide if nobody knows by then", decided: "Two people of Kobo's operator decide.",
	}
)

// ahead returns what comes next, the next first, in the chosen lane.
func (s story) ahead(say aheadWords) (out []ahead) {
	if c := s.Clock; c != nil {
		if c.NextAt != nil {
			out = append(out, ahead{instant(*c.NextAt), "provider", say.asked, "number " + itoa(c.Attempts+1) + say.number, ""})
		}
		if at := instant(c.GraceEndsAt); at.After(s.now) {
			out = append(out, ahead{at, "provider", "End of the grace period", say.grace, ""})
		}
		if at := instant(c.CaseDueAt); optional(s.Word) != "case" && !at.IsZero() {
			out = append(out, ahead{at, "people", say.opened, say.decided, ""})
		}
	}
	for _, step := range s.Steps {
		if step.NextAttemptAt != nil {
			event, _, _ := strings.Cut(withoutName(step.Text), ": ")
			out = append(out, ahead{instant(*step.NextAttemptAt), "told", "Next delivery", sentence(event), codeOf("delivery", step.Text)})
		}
	}
	out = slices.DeleteFunc(out, func(a ahead) bool { return s.lane != "" && a.lane != s.lane })
	slices.SortStableFunc(out, func(a, b ahead) int { return a.at.Compare(b.at) })
	return out
}

// laneAddress returns the address of the timeline with one lane. The page of a refused form has the address of the form, which nobody
// can open.
func (v *visit) laneAddress(key string) string {
	at := v.URL.Path
	if !v.opens(at) {
		at = path.Dir(at)
	}
	if key == "" {
		return at
	}
	return at + "?" + url.Values{"lane": {key}}.Encode()
}
