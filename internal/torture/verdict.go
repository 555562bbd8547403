package torture

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// shown is the number of findings of a check that a verdict prints.
const shown = 10

// Print writes what a run did and what the checks found. It returns whether all checks passed.
func Print(w io.Writer, h *History, results []Result) (sound bool, err error) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "seed %d, %s of load, %d clients, %d programs on %s, %s\n\n", h.Run.Seed, h.Run.Duration, h.Run.Clients, h.Run.Programs, h.Run.Engine, h.Run.Version)
	if h.Run.Format < format {
		fmt.Fprint(t, "the history is an old one, and lacks some facts that the checks of now compare\n\n")
	}
	calls, unanswered := map[string]int{}, map[string]int{}
	for _, c := range h.Calls {
		if calls[c.Kind]++; c.Status == 0 {
			unanswered[c.Kind]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(calls)) {
		fmt.Fprintf(t, "%s\t%d calls\t%d without an answer\n", kind, calls[kind], unanswered[kind])
	}
	ends, breaks, lost := map[string]int{}, map[string]int{}, map[string]int{}
	for _, b := range h.Facts.Companies {
		for _, p := range b.Payments {
			ends[p.Kind+" "+p.State]++
		}
	}
	for _, b := range h.Breaks {
		if h.missed(b) {
			breaks[b.Kind+" that met nothing"]++
			continue
		}
		breaks[b.Kind]++
		if b.Commits > 0 {
			lost[b.Kind] += b.Commits
		}
	}
	fmt.Fprint(t, "\npayments\t", tally(ends), "\nbreaks\t", tally(breaks), "\n")
	if len(lost) > 0 {
		fmt.Fprint(t, "COMMITs\t", tally(lost), "\n")
	}
	if n := len(h.lost()); n > 0 {
		fmt.Fprintf(t, "restores\t%s\n", h.restored(n))
	}
	if n := len(h.Facts.Moved); n > 0 {
		fmt.Fprintf(t, "moves\t%d purchases went on to the second biller\n", n)
	}
	fmt.Fprintln(t)
	sound = true
	for _, r := range results {
		said := "holds"
		if r.Compared == 0 {
			said = "was not tried"
		}
		if len(r.Findings) > 0 {
			said, sound = fmt.Sprintf("FAILS: %d findings", len(r.Findings)), false
		}
		if r.Left > 0 {
			said += fmt.Sprintf("; %d with too many calls are not compared", r.Left)
		}
		fmt.Fprintf(t, "%s\t%d compared\t%s\n", r.Check, r.Compared, said)
		for _, f := range r.Findings[:min(len(r.Findings), shown)] {
			fmt.Fprintf(t, "  %s\n", f)
		}
	}
	verdict := "nothing was lost, and nothing was done twice"
	if !sound {
		verdict = fmt.Sprintf("FAILED; --seed %d repeats the choices", h.Run.Seed)
	}
	fmt.Fprintf(t, "\nverdict: %s\n", verdict)
	return sound, t.Flush()
}

// restored says what became of the payments that restores may have lost.
func (h *History) restored(restores int) string {
	executed, repeated, booked := 0, 0, len(h.unbooked())
	known, may := h.Facts.payments(), h.lostPayments()
	for _, e := range h.Facts.Executions {
		if _, lost := may[e.Reference]; lost && e.isPayment() && e.Executions > 0 {
			executed++
			if _, there := known[e.Reference]; there {
				repeated++
			}
		}
	}
	return fmt.Sprintf("%d, around which providers executed %d payments: Kobo knows %d, and operators booked %d", restores, executed, repeated, booked)
}

// missed reports whether a break met nothing that it could break: no COMMIT came, no connection sent anything, or no payment followed.
func (h *History) missed(b Break) bool {
	switch b.Kind {
	case lostBefore, lostAfter:
		return b.Commits == 0
	case silence:
		return b.Silent == 0 && h.Run.Format >= countsSilence
	case latePayment:
		return !slices.ContainsFunc(h.Calls, func(c Call) bool { return isOrder(c) && time.Duration(c.End)*time.Microsecond > b.At })
	}
	return false
}

func tally(of map[string]int) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(of)) {
		text += fmt.Sprintf("%d %s, ", of[name], name)
	}
	return text[:max(0, len(text)-2)]
}

// Describe returns a line about each check.
func Describe() string {
	text := ""
	for _, c := range checks {
		text += fmt.Sprintf("  %-11s %s\n", c.name, c.about)
	}
	return text
}
