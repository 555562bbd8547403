package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// SoakOptions choose how long a soak lasts, and where.
type SoakOptions struct {
	Rate     int64 // operations per second
	Clients  int
	Duration time.Duration
	Every    time.Duration // between two samples
	Seed     uint64        // of the choices of operations and stories
	Window   time.Duration // the deadline of the program's calls of providers; its default if 0
	Postgres string        // the URL of a PostgreSQL server; SQLite if empty
	Name     string        // of the database on that server; random if empty
	Folder   string        // for the instance; the system's temporary folder if empty
	Child    []string      // the command that runs Child
	Progress io.Writer
	Version  string
	// Keep, if set, is called with the record after each sample.
	Keep func(SoakReport) error
}

// Check returns an error if the options are not valid.
func (o SoakOptions) Check() error {
	switch {
	case o.Rate < 1 || o.Rate > 10_000:
		return fmt.Errorf("%w: --rate must be 1 to 10000", ErrOptions)
	case o.Clients < 1 || o.Clients > 10_000:
		return fmt.Errorf("%w: --clients must be 1 to 10000", ErrOptions)
	case o.Every < time.Second || o.Every > time.Hour:
		return fmt.Errorf("%w: --every must be 1s to 1h", ErrOptions)
	case o.Duration < leastSamples*o.Every:
		return fmt.Errorf("%w: --duration must be at least %d times --every", ErrOptions, leastSamples)
	case o.Name != "" && !ownName.MatchString(o.Name):
		return fmt.Errorf("%w, not %q", ErrForeign, o.Name)
	}
	return nil
}

// SoakReport is what a long run at a moderate rate did, and how the program's size changed meanwhile.
type SoakReport struct {
	Version  string    `json:"version"`
	Go       string    `json:"go"`
	CPUs     int       `json:"cpus"`
	Began    time.Time `json:"began"`
	Engine   string    `json:"engine"`
	Rate     int64     `json:"rate"`
	Clients  int       `json:"clients"`
	Duration string    `json:"duration"` // as asked for; the last sample has the time that passed
	Seed     uint64    `json:"seed"`
	// FirstFailure is the first response that no story and no fault explains.
	FirstFailure string   `json:"firstFailure,omitempty"`
	Verify       int64    `json:"verifyMillis,omitempty"` // how long the whole ledger took to verify afterwards
	Samples      []Sample `json:"samples"`
	Checks       []Check  `json:"checks"`
	Flat         bool     `json:"flat"`
}

// Soak runs Kobo with its simulated providers under a constant load with a few faults, reads the
// program's size at intervals, and finally verifies the ledger. It returns the record also with an
// error.
func Soak(ctx context.Context, o SoakOptions) (out SoakReport, err error) {
	out = SoakReport{
		Version: o.Version, Go: runtime.Version(), CPUs: runtime.NumCPU(), Began: time.Now().UTC(),
		Rate: o.Rate, Clients: o.Clients, Duration: o.Duration.String(), Seed: o.Seed,
	}
	if err := o.Check(); err != nil {
		return out, err
	}
	base := Options{Postgres: o.Postgres, Name: o.Name, Folder: o.Folder, Child: o.Child, Progress: o.Progress}
	if out.Engine, err = base.engine(ctx); err != nil {
		return out, err
	}
	if out.Engine != sqlite && out.Engine != postgres {
		return out, fmt.Errorf("%w: a soak needs a PostgreSQL that is no Citus", ErrOptions)
	}
	fmt.Fprintf(o.Progress, "\rsoak: starting %40s", "")
	i, err := base.start(ctx, mix{companies: soakCompanies, soak: &soakRole{Window: o.Window, Seed: o.Seed}})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, i.remove()) }()
	s := &soak{SoakOptions: o, place: &place{target: i.target, companies: i.companies, clients: o.Clients}, instance: i, report: &out}
	if err := s.prepare(ctx); err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.hook.close(context.WithoutCancel(ctx))) }()
	if err := s.run(ctx); err != nil {
		return out, err
	}
	fmt.Fprintf(o.Progress, "\rsoak: verifying the ledger %40s", "")
	began := time.Now()
	err = i.verify(ctx)
	out.Verify = time.Since(began).Milliseconds()
	fmt.Fprintf(o.Progress, "\r%60s\r", "")
	if err == nil && o.Keep != nil {
		err = o.Keep(out)
	}
	return out, err
}

// soak is a soak at work.
type soak struct {
	SoakOptions
	*place
	instance *instance
	report   *SoakReport
	hook     *hook
	bearers  bearers
	done     tally
}

// prepare finds a product, and registers a webhook for each company.
func (s *soak) prepare(ctx context.Context) (err error) {
	if err = s.find(); err != nil {
		return err
	}
	s.bearers.set(s.companies)
	if s.hook, err = newHook(); err != nil {
		return err
	}
	for _, a := range s.companies {
		body := fmt.Sprintf(`{"url":"%s"}`, s.hook.url)
		if _, err = s.ask(s.request("POST", "/api/v1/webhooks", a.token, body, ""), `"secret"`); err != nil {
			return errors.Join(err, s.hook.close(ctx))
		}
	}
	return nil
}

// run makes the load and takes the samples.
func (s *soak) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now()
	end := s.begin(ctx, start)
	var renewal sync.WaitGroup
	renewal.Go(func() { s.renew(ctx, tokenAge, tokenAgain) })
	err := s.watch(ctx, start)
	cancel()
	end()
	renewal.Wait()
	return err
}

// watch takes a sample at each interval until the end of the run.
func (s *soak) watch(ctx context.Context, start time.Time) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for at := start; !at.After(start.Add(s.Duration)); at = at.Add(s.Every) {
		if !wait(ctx, timer, at) {
			return ctx.Err()
		}
		one, err := s.sample(ctx, time.Since(start))
		if err != nil {
			return fmt.Errorf("the sample after %s: %w", at.Sub(start), err)
		}
		r := s.report
		r.Samples, r.FirstFailure = append(r.Samples, one), s.done.failure()
		r.Judge()
		fmt.Fprintf(s.Progress, "\rsoak: %s of %s, %d operations, %d MB, %d goroutines ", at.Sub(start), s.Duration, one.Operations, one.Memory>>20, one.Goroutines)
		if s.Keep != nil {
			if err := s.Keep(*r); err != nil {
				return err
			}
		}
	}
	return nil
}
