package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// processes are the columns of processor time, in the order of a request's way.
var processes = []string{"client", "kobo", "postgres", "provider"}

// Print writes the report as a table. If before is not nil, it also writes the ratio of each
// result to the same result there.
func (r Report) Print(out io.Writer, before *Report) error {
	fmt.Fprintf(out, "kobo %s, %s, %s, %d CPUs, %s a mix, TLS to the provider: %t\n", r.Version, r.Go, r.Engine, r.CPUs, r.Duration, r.TLS)
	if r.Short {
		fmt.Fprintln(out, "SHORT: the measured part is too short for work that Kobo defers")
	}
	rows := r.Results
	if r.Limits != nil {
		fmt.Fprintf(out, "limits of the machine: %d fsyncs/s; the rivals write a purchase's rows by functions inside PostgreSQL\n", r.Limits.Fsyncs)
		rows = slices.Concat(r.Limits.Rivals, rows)
	}
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "mix\tclients\toperations/s\tp50 ms\tp99 ms\tp99.9 ms\tfailed\tclient µs\tkobo µs\tpostgres µs\tprovider µs\tall µs\tdeferred µs\tcommits\tfsyncs\tWAL B\tstored B\tdisk B\tkobo MB\t")
	for _, m := range rows {
		m.row(t)
		if before == nil {
			continue
		}
		at := slices.IndexFunc(before.Results, func(b Result) bool { return b.Mix == m.Mix && b.Clients == m.Clients && b.Rate == m.Rate })
		if at >= 0 {
			m.ratios(t, before.Results[at])
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, m := range r.Results {
		fmt.Fprintf(out, "%s: the ledger was verified in %s s\n", m.Mix, tenths(m.Verify, 1000))
		if m.FirstFailure != "" {
			fmt.Fprintf(out, "%s: %d of %d operations failed, the first with: %s\n", m.Mix, m.Failed, m.Failed+m.Operations, m.FirstFailure)
		}
	}
	return r.printStorage(out)
}

// printStorage writes by how many bytes the tables and indexes of PostgreSQL have grown.
func (r Report) printStorage(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, m := range r.Results {
		if len(m.Tables) == 0 {
			continue
		}
		fmt.Fprintf(t, "%s: stored by\tindex\tbytes an operation\n", m.Mix)
		for _, g := range m.Tables {
			fmt.Fprintf(t, "%s\t%s\t%d\n", g.Table, g.Index, g.Bytes)
		}
	}
	return t.Flush()
}

// cpu returns the processor time of all processes.
func (m Result) cpu() (sum int64) {
	for _, nanos := range m.CPU {
		sum += nanos
	}
	return sum
}

func (m Result) row(t io.Writer) {
	fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%d\t", m.Mix, m.Clients, m.PerSecond, tenths(m.P50, 1000), tenths(m.P99, 1000), tenths(m.P999, 1000), m.Failed)
	for _, name := range processes {
		fmt.Fprintf(t, "%s\t", tenths(m.CPU[name], 1000))
	}
	fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t\n", tenths(m.cpu(), 1000), tenths(m.Deferred, 1000), tenths(m.Commits, 1000), tenths(m.Fsyncs, 1000), m.WAL, m.Stored, m.Disk, m.Memory["kobo"]>>20)
}

// ratios writes each number of the result as a multiple of the number before.
func (m Result) ratios(t io.Writer, b Result) {
	fmt.Fprintf(t, "ratio\t\t%s\t%s\t%s\t%s\t\t", ratio(m.PerSecond, b.PerSecond), ratio(m.P50, b.P50), ratio(m.P99, b.P99), ratio(m.P999, b.P999))
	for _, name := range processes {
		fmt.Fprintf(t, "%s\t", ratio(m.CPU[name], b.CPU[name]))
	}
	fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", ratio(m.cpu(), b.cpu()), ratio(m.Deferred, b.Deferred), ratio(m.Commits, b.Commits), ratio(m.Fsyncs, b.Fsyncs),
		ratio(m.WAL, b.WAL), ratio(m.Stored, b.Stored), ratio(m.Disk, b.Disk), ratio(m.Memory["kobo"], b.Memory["kobo"]))
}

// tenths returns n/unit with one decimal, rounded.
func tenths(n, unit int64) string {
	n = (n*10 + unit/2) / unit
	return fmt.Sprintf("%d.%d", n/10, n%10)
}

// ratio returns a/b with two decimals, or "" if b is zero.
func ratio(a, b int64) string {
	if b == 0 {
		return ""
	}
	n := (a*100 + b/2) / b
	return fmt.Sprintf("×%d.%02d", n/100, n%100)
}
