// Package bench measures the speed of Kobo. It starts throw-away instances of the program, drives
// them over HTTP, and counts what each operation costs.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

	Fill   int           // copies of a purchase in the first company's ledger before the load
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
var ErrOptions = errors.New("invalid options")

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
	case o.Fill < 0 || o.Fill > 0 && o.Postgres == "":
		return fmt.Errorf("%w: --fill must not be negative, and needs --postgres", ErrOptions)
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

// engine returns the name of the engine behind a run.
func (o Options) engine(ctx context.Context) (string, error) {
	switch {
	case o.URL != "":
		return "unknown", nil
	case o.Postgres == "":
		return sqlite, nil
	}
	nodes, err := server{o.Postgres}.nodes(ctx)
	switch {
	case err != nil:
		return "", err
	case len(nodes) == 1:
		return postgres, nil
	case o.Limits || o.Fill > 0:
		return "", fmt.Errorf("%w: --limits and --fill need a PostgreSQL that is no Citus", ErrOptions)
	}
	shards, err := server{o.Postgres}.shards(ctx)
	return fmt.Sprintf("citus with %d workers and %s shards", len(nodes)-1, shards), err
}

const sqlite, postgres = "sqlite", "postgres"

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
	Verify       int64  `json:"verifyMillis,omitempty"` // how long the whole ledger took to verify afterwards
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
	Tables   []Growth         `json:"tables,omitempty"` // of PostgreSQL, in the order of their names
}

// Growth is by how many bytes a table, or one of its indexes, has grown for each operation.
type Growth struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // empty for the rows of the table
	Bytes int64  `json:"bytesPerOperation"`
}

// Run measures each mix on a new instance.
func Run(ctx context.Context, o Options) (Report, error) {
	out := Report{
		Version: o.Version, Go: runtime.Version(), CPUs: runtime.NumCPU(), Began: time.Now().UTC(), TLS: o.TLS,
		Duration: o.Duration.String(), Short: o.Duration < Least,
	}
	err := o.Check()
	if err == nil {
		out.Engine, err = o.engine(ctx)
	}
	if err != nil {
		return out, err
	}
	if _, err := (process{pid: os.Getpid()}).use(); err != nil {
		return out, err // before anything is started
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
	if err = p.find(); err == nil {
		err = o.enlarge(ctx, i, p)
	}
	if err != nil {
		return nil, err
	}
	if m.beside != nil {
		out, err = o.flood(ctx, i, p, m)
	} else {
		out, err = o.usual(ctx, i, p, m)
	}
	if err == nil {
		fmt.Fprintf(o.Progress, "\r%-12s verifying the ledger %30s", m.name, "")
		began := time.Now()
		err = i.verify(ctx)
		for n := range out {
			out[n].Verify = time.Since(began).Milliseconds()
		}
	}
	fmt.Fprintf(o.Progress, "\r%60s\r", "")
	return out, err
}
