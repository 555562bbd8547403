// Package bench measures the speed of Kobo. It starts throw-away instances of the program, drives
// them over HTTP, and counts what each operation costs.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Options choose what a run measures, and where.
type Options struct {
	Mixes    []string // all if empty
	Clients  int
	Rate     int64 // operations per second; 0 for a closed loop
	Duration time.Duration
	Warm     time.Duration // the load before the measured part
	Short    bool          // permits a duration below Least
	TLS      bool          // between Kobo and the provider
	Postgres string        // the URL of a PostgreSQL server; SQLite if empty
	Name     string        // of the database on that server; random if empty
	Folder   string        // for the instances; the system's temporary folder if empty
	Child    []string      // the command that runs Child
	Progress io.Writer
	Version  string

	Limits bool          // also measure what the machine achieves without Kobo
	Idle   time.Duration // how long the processes are watched after the load, for work that Kobo deferred

	URL     string // drive this running instance instead of new ones
	Account Account
}

// Least is the shortest duration whose result is not marked as short. Work that Kobo defers, such
// as jobs, must fall into the measured part.
const Least = time.Minute

// most is the longest duration, because an access token lives for fifteen minutes.
const most = 10 * time.Minute

// ErrOptions is an invalid combination of options.
var ErrOptions = errors.New("kobo bench")

// Check returns an error if the options are not valid.
func (o Options) Check() error {
	for _, name := range o.Mixes {
		if !slices.ContainsFunc(mixes, func(m mix) bool { return m.name == name }) {
			return fmt.Errorf("%w: there is no mix %q; there are %s", ErrOptions, name, strings.Join(Mixes(), ", "))
		}
	}
	switch {
	case o.Clients < 1 || o.Clients > 10_000:
		return fmt.Errorf("%w: --clients must be 1 to 10000", ErrOptions)
	case o.Rate < 0:
		return fmt.Errorf("%w: --rate must not be negative", ErrOptions)
	case o.Duration < Least && !o.Short:
		return fmt.Errorf("%w: below %s the work that Kobo defers is not measured; --short permits it and marks the result", ErrOptions, Least)
	case o.Idle < 0 || o.Idle > most:
		return fmt.Errorf("%w: --idle must be 0s to %s", ErrOptions, most)
	case o.URL != "" && (o.Postgres != "" || o.TLS || o.Limits || o.Idle > 0):
		return fmt.Errorf("%w: --url drives a running instance, and takes no --postgres, --tls, --limits and --idle", ErrOptions)
	case o.Duration <= 0 || o.Duration+o.Warm > most || o.Warm < 0:
		return fmt.Errorf("%w: --duration and --warm-up together must be at most %s", ErrOptions, most)
	case o.Name != "" && !ownName.MatchString(o.Name):
		return fmt.Errorf("%w, not %q", ErrForeign, o.Name)
	}
	return nil
}

// Mixes returns the names of all mixes.
func Mixes() (names []string) {
	for _, m := range mixes {
		names = append(names, m.name)
	}
	return names
}

// Describe returns a line about each mix.
func Describe() string {
	var b strings.Builder
	for _, m := range mixes {
		fmt.Fprintf(&b, "  %-10s %s\n", m.name, m.about)
	}
	return b.String()
}

// Report is the result of a run. Its numbers are integers: a thousandth of an operation's commits
// is still a number of commits.
type Report struct {
	Version  string    `json:"version"`
	Go       string    `json:"go"`
	CPUs     int       `json:"cpus"`
	Began    time.Time `json:"began"`
	Engine   string    `json:"engine"`
	TLS      bool      `json:"tls"`
	Duration string    `json:"duration"`
	Short    bool      `json:"short"`
	Results  []Result  `json:"results"`
	Limits   *Limits   `json:"limits,omitempty"`
}

// Result is what a mix achieved, and what each of its operations cost.
type Result struct {
	Mix          string `json:"mix"`
	Clients      int    `json:"clients"`
	Rate         int64  `json:"rate,omitempty"` // intended operations per second of an open loop
	Operations   int64  `json:"operations"`
	Failed       int64  `json:"failed"`
	Unbegun      int64  `json:"unbegun,omitempty"` // operations that an open loop could not begin
	FirstFailure string `json:"firstFailure,omitempty"`
	PerSecond    int64  `json:"perSecond"`
	P50          int64  `json:"p50Micros"`
	P99          int64  `json:"p99Micros"`
	P999         int64  `json:"p999Micros"`
	Max          int64  `json:"maxMicros"`
	Cost
}

// Cost is what each operation of a mix used.
type Cost struct {
	CPU      map[string]int64 `json:"cpuNanosPerOperation,omitempty"` // by process
	Deferred int64            `json:"deferredNanosPerOperation,omitempty"`
	Memory   map[string]int64 `json:"memoryBytes,omitempty"` // by process, at the end
	Disk     int64            `json:"diskBytesPerOperation"` // that Kobo's process wrote
	Commits  int64            `json:"commitsPerThousand"`
	Fsyncs   int64            `json:"fsyncsPerThousand"`
	WAL      int64            `json:"walBytesPerOperation"`
	Stored   int64            `json:"storedBytesPerOperation"`
}

// Run measures each mix on a new instance.
func Run(ctx context.Context, o Options) (Report, error) {
	out := Report{
		Version: o.Version, Go: runtime.Version(), CPUs: runtime.NumCPU(), Began: time.Now().UTC(), Engine: "sqlite", TLS: o.TLS,
		Duration: o.Duration.String(), Short: o.Duration < Least,
	}
	switch {
	case o.URL != "":
		out.Engine = "unknown"
	case o.Postgres != "":
		out.Engine = "postgres"
	}
	if err := o.Check(); err != nil {
		return out, err
	}
	if o.Limits {
		l, err := o.limits(ctx)
		if out.Limits = &l; err != nil {
			return out, fmt.Errorf("the machine's limits: %w", err)
		}
	}
	for _, m := range mixes {
		if len(o.Mixes) == 0 && o.URL != "" && !m.remote() || len(o.Mixes) > 0 && !slices.Contains(o.Mixes, m.name) {
			continue
		}
		results, err := o.measure(ctx, m)
		if out.Results = append(out.Results, results...); err != nil {
			return out, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return out, nil
}

// measure measures a mix on a new instance, and verifies the instance's ledger.
func (o Options) measure(ctx context.Context, m mix) (out []Result, err error) {
	fmt.Fprintf(o.Progress, "\r%-12s starting %40s", m.name, "")
	var i *instance
	if o.URL != "" {
		i, err = o.attach(ctx, m)
	} else {
		i, err = o.start(ctx, m)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, i.remove()) }()
	p := &place{target: i.target, companies: i.companies, clients: o.Clients}
	if err := p.find(); err != nil {
		return nil, err
	}
	if m.name == flood {
		out, err = o.flood(ctx, i, p)
	} else {
		out, err = o.usual(ctx, i, p, m)
	}
	if err == nil {
		fmt.Fprintf(o.Progress, "\r%-12s verifying the ledger %30s", m.name, "")
		err = i.verify(ctx)
	}
	fmt.Fprintf(o.Progress, "\r%60s\r", "")
	return out, err
}

// load returns the load of a mix.
func (p *place) load(name string, m func(p *place, client int) (step, error)) (load, error) {
	l := load{target: p.target, name: name, clients: p.clients}
	for client := range p.clients {
		s, err := m(p, client)
		if err != nil {
			return l, err
		}
		l.steps = append(l.steps, s)
	}
	return l, nil
}

// usual measures a mix with one load.
func (o Options) usual(ctx context.Context, i *instance, p *place, m mix) ([]Result, error) {
	l, err := p.load(m.name, m.step)
	if err != nil {
		return nil, err
	}
	l.rate = o.Rate
	is, err := i.drive(ctx, o, l)
	if err != nil {
		return nil, err
	}
	out := is.result(l)
	out.Cost = is.cost(is.operations(l))
	return []Result{out}, nil
}

// flood measures a polite company alone, and then while a different company floods the program.
func (o Options) flood(ctx context.Context, i *instance, p *place) ([]Result, error) {
	few := *p
	few.companies, few.clients = p.companies[1:], polite
	p.companies = p.companies[:1]
	calm, err := few.load("polite alone", (*place).buy)
	if err != nil {
		return nil, err
	}
	wild, err := p.load("flooder", (*place).buy)
	if err != nil {
		return nil, err
	}
	alone, err := i.drive(ctx, o, calm)
	if err != nil {
		return nil, err
	}
	first := alone.result(calm)
	first.Cost = alone.cost(alone.operations(calm))
	type flooded struct {
		counted
		error
	}
	ended := make(chan flooded, 1)
	go func() {
		done, err := wild.run(ctx, o.Warm, o.Duration, io.Discard, func() error { return nil })
		ended <- flooded{done, err}
	}()
	calm.name = "polite beside"
	beside, err := i.drive(ctx, o, calm)
	at := <-ended
	if err = errors.Join(err, at.error); err != nil {
		return nil, err
	}
	// The cost of both loads together stands in the flooder's row.
	last := at.result(wild)
	last.Cost = beside.cost(beside.operations(calm) + at.operations(wild))
	return []Result{first, beside.result(calm), last}, nil
}

// driven is what a load did, and what the processes used for it.
type driven struct {
	counted
	used  []map[string]usage // at the window's begin, at its end, and perhaps after an idle time
	wrote []written
}

// drive runs a load, and reads what the processes use.
func (i *instance) drive(ctx context.Context, o Options, l load) (d driven, err error) {
	sample := func() error {
		u, w, err := i.measure(ctx)
		d.used, d.wrote = append(d.used, u), append(d.wrote, w)
		return err
	}
	if d.counted, err = l.run(ctx, o.Warm, o.Duration, o.Progress, sample); err != nil || o.Idle == 0 {
		return d, err
	}
	fmt.Fprintf(o.Progress, "\r%-12s idle for %s %30s", l.name, o.Idle, "")
	before, _, err := i.measure(ctx) // the last operations have ended only now
	if err != nil {
		return d, err
	}
	timer := time.NewTimer(o.Idle)
	defer timer.Stop()
	if !wait(ctx, timer, time.Now().Add(o.Idle)) {
		return d, ctx.Err()
	}
	d.used = append(d.used, before)
	return d, sample()
}

// operations returns the number of operations that had the expected outcome.
func (d *counted) operations(l load) int64 { return (d.n - d.unbegun) * max(l.batch, 1) }

func (d *counted) result(l load) Result {
	n := d.operations(l)
	out := Result{
		Mix: l.name, Clients: l.clients, Rate: l.rate, Operations: n, Failed: d.failed, Unbegun: d.unbegun,
		PerSecond: n * 1000 / max(d.elapsed.Milliseconds(), 1), P50: d.at(500), P99: d.at(990), P999: d.at(999), Max: d.max,
	}
	if d.first != nil {
		out.FirstFailure = d.first.Error()
	}
	return out
}

// cost divides what was used by a number of operations.
func (d driven) cost(n int64) Cost {
	per := func(sum int64) int64 { return sum / max(n, 1) }
	before, after, wrote := d.used[0], d.used[1], d.wrote[1].less(d.wrote[0])
	out := Cost{
		CPU: map[string]int64{}, Memory: map[string]int64{}, Disk: per(after["kobo"].written - before["kobo"].written),
		Commits: per(wrote.Commits * 1000), Fsyncs: per(wrote.Fsyncs * 1000), WAL: per(wrote.WAL), Stored: per(wrote.Stored),
	}
	for name, u := range after {
		out.CPU[name], out.Memory[name] = per(u.cpu-before[name].cpu), u.memory
	}
	if len(d.used) == 4 {
		for name, u := range d.used[3] {
			out.Deferred += (u.cpu - d.used[2][name].cpu) / max(d.all, 1)
		}
	}
	return out
}
