package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// leastSamples is the number of intervals that a soak needs, so that each quarter has two samples.
const leastSamples = 8

// Check compares the first quarter of a soak with the last one.
type Check struct {
	Name  string `json:"name"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	Most  int64  `json:"most"` // the largest value of Last that counts as flat
	Rule  string `json:"rule"`
	Flat  bool   `json:"flat"`
}

// rule is a rule for one number of the samples.
type rule struct {
	name string
	of   func(Sample) int64
	// The last quarter's median may be the first quarter's, multiplied by percent/100, and slack more.
	percent, slack int64
	database       bool // the number is missing in a blind sample
}

const megabyte = 1 << 20

var rules = []rule{
	{name: "resident memory, bytes", of: func(s Sample) int64 { return s.Memory }, percent: 125, slack: 16 * megabyte},
	{name: "heap in use, bytes", of: func(s Sample) int64 { return s.Heap }, percent: 125, slack: 16 * megabyte},
	{name: "heap at the next collection, bytes", of: func(s Sample) int64 { return s.Goal }, percent: 125, slack: 16 * megabyte},
	{name: "goroutines", of: func(s Sample) int64 { return s.Goroutines }, percent: 110, slack: 10},
	{name: "open file descriptors", of: func(s Sample) int64 { return s.Handles }, percent: 110, slack: 10},
	{name: "open operations", of: func(s Sample) int64 { return s.Open }, percent: 150, slack: 50, database: true},
	{name: "waiting webhooks", of: func(s Sample) int64 { return s.Events }, percent: 150, slack: 200, database: true},
	{name: "waiting notifications", of: func(s Sample) int64 { return s.Inbox }, percent: 150, slack: 20, database: true},
}

// bound is a number that no sample may exceed.
type bound struct {
	name string
	of   func(Sample) int64
	most int64
	why  string
}

var bounds = []bound{
	{"delay of the most overdue job, s", func(s Sample) int64 { return s.JobLate }, 60, "no sample above a minute"},
	{"age of the oldest open operation, s", func(s Sample) int64 { return s.OpenAge }, 35 * 60, "no sample above 35 minutes: the resolver asks at 15 and 30"},
	{"age of the oldest waiting event, s", func(s Sample) int64 { return s.Event }, 60, "no sample above a minute"},
	{"age of the oldest waiting notification, s", func(s Sample) int64 { return s.InboxAt }, 60, "no sample above a minute"},
	{"unexplained responses", func(s Sample) int64 { return s.Failed }, 0, "none"},
	{"open cases", func(s Sample) int64 { return s.Cases }, 0, "none"},
}

// judge compares the samples of a load of some operations per second. It returns nothing while there are too few.
func judge(all []Sample, rate int64) (out []Check) {
	if len(all) <= leastSamples {
		return nil
	}
	quarter := len(all) / 4
	first, last := all[:quarter], all[len(all)-quarter:]
	for _, r := range rules {
		c := Check{Name: r.name, First: median(first, r.of, r.database), Last: median(last, r.of, r.database)}
		c.Most = c.First*r.percent/100 + r.slack
		c.Rule = fmt.Sprintf("the last quarter's median is at most the first quarter's × %d.%02d + %d", r.percent/100, r.percent%100, r.slack)
		c.Flat = c.Last <= c.Most
		out = append(out, c)
	}
	for _, b := range bounds {
		c := Check{Name: b.name, First: highest(first, b.of), Last: highest(all, b.of), Most: b.most, Rule: b.why}
		c.Flat = c.Last <= c.Most
		out = append(out, c)
	}
	out = append(out, done(all, rate), blindness(first, last))
	return append(out, growth(all)...)
}

// done compares the operations that have ended with those that were asked for. A program that stands still would not grow.
func done(all []Sample, rate int64) Check {
	end := all[len(all)-1]
	asked := rate * end.Seconds
	c := Check{Name: "operations that are behind", First: asked, Last: asked - end.Operations, Most: max(asked/10, rate), Rule: "a tenth of those that were asked for, or a second's"}
	c.Flat = c.Last <= c.Most
	return c
}

// blindness counts the blind samples of the quarters, whose numbers of the database are missing. They would look like zeros.
func blindness(first, last []Sample) Check {
	count := func(all []Sample) (n int64) {
		for _, s := range all {
			if s.Blind {
				n++
			}
		}
		return n
	}
	c := Check{Name: "samples without the numbers of the database", First: count(first), Last: count(last), Most: int64(len(last) * 2 / 3), Rule: "two thirds of the samples of a quarter"}
	c.Flat = max(c.First, c.Last) <= c.Most
	return c
}

// growth compares the bytes that each operation stored in the first and in the second half.
func growth(all []Sample) (out []Check) {
	begin, middle, end := all[0], all[len(all)/2], all[len(all)-1]
	compare := func(name string, of func(Sample) int64) {
		half := evenly(all, len(all)/2, of)
		first, second := middle.Operations-begin.Operations, end.Operations-middle.Operations
		c := Check{Name: name + ", bytes an operation", First: (half - of(begin)) / max(first, 1), Last: (of(end) - half) / max(second, 1)}
		c.Most = c.First*125/100 + 64
		c.Rule = "the second half's is at most the first half's × 1.25 + 64"
		c.Flat = c.Last <= c.Most
		out = append(out, c)
	}
	compare("database", func(s Sample) int64 { return s.Stored })
	for _, name := range slices.Sorted(maps.Keys(end.Tables)) {
		of := func(s Sample) int64 { return s.Tables[name] }
		if end.Tables[name]-begin.Tables[name] >= megabyte {
			compare("table "+name, of)
		}
	}
	return out
}

// evenly returns a number at a sample, as if the number rose evenly with the operations up to its next change. Some
// tables grow once an hour: the step belongs to the hour before it.
func evenly(all []Sample, n int, of func(Sample) int64) int64 {
	v, from, to := of(all[n]), n, n
	for from > 0 && of(all[from-1]) == v {
		from--
	}
	for to < len(all) && of(all[to]) == v {
		to++
	}
	if to == len(all) {
		return v
	}
	return v + (of(all[to])-v)*(all[n].Operations-all[from].Operations)/max(all[to].Operations-all[from].Operations, 1)
}

func median(all []Sample, of func(Sample) int64, database bool) int64 {
	var values []int64
	for _, s := range all {
		if !database || !s.Blind {
			values = append(values, of(s))
		}
	}
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func highest(all []Sample, of func(Sample) int64) (most int64) {
	for _, s := range all {
		most = max(most, of(s))
	}
	return most
}

// flat reports whether there are checks and all of them are flat.
func flat(all []Check) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(c Check) bool { return !c.Flat })
}

// Judge judges the samples of the record by the rules of this program.
func (r *SoakReport) Judge() {
	r.Checks = judge(r.Samples, r.Rate)
	r.Flat = flat(r.Checks)
}

// Print writes the report as a table.
func (r SoakReport) Print(out io.Writer) error {
	fmt.Fprintf(out, "kobo %s, %s, %s, %d CPUs, %d operations/s for %s asked for\n", r.Version, r.Go, r.Engine, r.CPUs, r.Rate, r.Duration)
	if len(r.Samples) == 0 {
		_, err := fmt.Fprintln(out, "there is no sample")
		return err
	}
	last := r.Samples[len(r.Samples)-1]
	fmt.Fprintf(out, "%s: %d operations, of these %d PENDING at first, %d refunded, %d without a name from the bank, %d unexplained; %d webhooks arrived\n",
		time.Duration(last.Seconds)*time.Second, last.Operations, last.Pending, last.Refunded, last.Unavailable, last.Failed, last.Webhooks)
	if r.FirstFailure != "" {
		fmt.Fprintf(out, "the first unexplained response: %s\n", r.FirstFailure)
	}
	quarter := max(len(r.Samples)/4, 1)
	of := func(s Sample) int64 { return s.P99 }
	fmt.Fprintf(out, "p99 of successes, median of the intervals: first quarter %s ms, last quarter %s ms (not judged)\n",
		tenths(median(r.Samples[:quarter], of, false), 1000), tenths(median(r.Samples[len(r.Samples)-quarter:], of, false), 1000))
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "what\tfirst\tlast\tat most\tverdict\trule")
	for _, c := range r.Checks {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\n", c.Name, c.First, c.Last, c.Most, map[bool]string{true: "flat", false: "NOT FLAT"}[c.Flat], c.Rule)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	verdict := "NOT FLAT"
	if r.Flat {
		verdict = "flat"
	}
	_, err := fmt.Fprintf(out, "verdict: %s\n", verdict)
	return err
}
