package evidence

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// SignJob is the kind of the recurring job that makes the hourly checkpoints.
const SignJob = "evidence.sign"

const (
	signEvery = time.Hour
	// roundLimit is the maximum duration of one run. It is far shorter than the job's lease.
	roundLimit = 30 * time.Second
	// companiesAtOnce is how many companies share one transaction, and one leaf range of the
	// deployment's tree.
	companiesAtOnce = 100
)

// Plan adds the recurring job to the job list, unless the list contains it already.
func (s *Service) Plan(ctx context.Context) error {
	return job.Plan(ctx, s.DB, job.Job{Company: inbox.House, Kind: SignJob, RunAt: s.Clock.Now().Add(signEvery)})
}

// Sign runs a SignJob: it compares the database with the second place, makes a checkpoint of each
// company with new rows, and writes the deployment's newest one into the second place. A run that takes
// too long ends, and the next run continues.
func (s *Service) Sign(ctx context.Context, _ job.Job) (next time.Time, err error) {
	if err := s.Begin(ctx); err != nil {
		return next, err
	}
	next, err = s.signAll(ctx)
	s.keepNewest(ctx)
	return next, err
}

// round is one pass over all companies, which may take several runs of the job. It is kept in memory, so a
// program that takes over begins a round of its own.
type round struct {
	began   time.Time       // zero before the round
	after   string          // the last company that was reached
	again   []string        // what is still to be read beside the companies after that one
	altered map[string]bool // the trees that were changed
	changed int             // how many the round before has found
}

// signAll makes a checkpoint of each company with new rows, and returns the time of the next run. A run
// that takes too long ends, and the next one begins with the company after the last one. So each company has
// its turn, and a round begins an hour after the one before has begun.
func (s *Service) signAll(ctx context.Context) (next time.Time, err error) {
	limited, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	ctx = db.WithLongTimeout(ctx)
	r := &s.round
	if r.began.IsZero() {
		r.began, r.again, r.altered = s.Clock.Now(), []string{""}, map[string]bool{}
	}
	defer func() { s.changed.Set(float64(max(r.changed, len(r.altered)))) }()
	for {
		heads, err := s.heads(ctx)
		if err != nil {
			return next, err
		}
		if len(heads) == 0 {
			break
		}
		if err := s.signPage(ctx, heads, func() bool { return limited.Err() != nil }); err != nil {
			return next, err
		}
		if limited.Err() != nil {
			return s.Clock.Now(), ctx.Err() // the next run continues
		}
	}
	next = r.began.Add(signEvery)
	s.rounded.Store(r.began.UnixMicro())
	*r = round{changed: len(r.altered)}
	return next, nil
}

// heads returns the heads that the round reads next, or none at its end. The house is among the first
// companies. Trees that have more new rows than one run reads come again after the last company.
func (s *Service) heads(ctx context.Context) ([]ledger.Head, error) {
	r := &s.round
	heads, err := ledger.Heads(ctx, s.DB, r.after, s.atOnce)
	if err != nil || r.after != "" && len(heads) > 0 {
		return heads, err
	}
	for _, company := range r.again {
		leaf, err := ledger.Leaves(ctx, s.DB, company)
		if err != nil {
			return nil, err
		}
		heads = append(heads, ledger.Head{Company: company, Leaf: leaf})
	}
	return heads, nil
}

// signPage makes checkpoints of several companies, and tells the companies. It stops after a company when the
// time is over, and stores in the round how far it came.
func (s *Service) signPage(ctx context.Context, heads []ledger.Head, over func() bool) error {
	companies := make([]string, len(heads))
	for i, h := range heads {
		companies[i] = h.Company
	}
	have, err := sizes(ctx, s.DB, companies)
	if err != nil {
		return err
	}
	waiting, err := untold(ctx, s.DB, companies)
	if err != nil {
		return err
	}
	s.tellAll(ctx, waiting)
	r := &s.round
	var all []grown
	var growing []string
	for i, h := range heads {
		if i > 0 && over() {
			companies = companies[:i]
			break
		}
		if size := have[h.Company]; h.Leaf == size || h.Leaf == size+1 && size > 0 && hasEvents(h.Company) {
			continue // the only new row is the event about the last checkpoint
		}
		g, _, err := s.prepare(ctx, h.Company, tilesInRound)
		switch {
		case err == nil:
			all = append(all, g)
		case errors.Is(err, errGrowing):
			growing = append(growing, h.Company)
		case IsAltered(err):
			r.altered[h.Company] = true
			_ = s.report(err) // it is logged, and the other companies get their checkpoints
		default:
			return err
		}
	}
	made, err := s.sign(ctx, all, false)
	if IsAltered(err) {
		r.altered[Deployment] = true
		_ = s.report(err) // it is logged, and the other companies are still compared
	} else if err != nil {
		return err
	}
	s.tellAll(ctx, made)
	r.after = max(r.after, slices.Max(companies))
	r.again = append(slices.DeleteFunc(r.again, func(c string) bool { return slices.Contains(companies, c) }), growing...)
	return nil
}

// Metrics returns the metrics of the trees.
func (s *Service) Metrics() []prometheus.Collector {
	age := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kobo_evidence_place_age_seconds",
		Help: "Time since the newest checkpoint was last in the second place, as far as this program knows, or 0 without a second place.",
	}, func() float64 {
		if s.Folder == "" {
			return 0
		}
		return s.Clock.Now().Sub(time.UnixMicro(s.placed.Load())).Seconds()
	})
	reached := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kobo_evidence_round_age_seconds",
		Help: "Time since the beginning of this program's last round that reached all companies, or since its start.",
	}, func() float64 { return s.Clock.Now().Sub(time.UnixMicro(s.rounded.Load())).Seconds() })
	return []prometheus.Collector{s.changed, age, reached}
}

func newChanged() prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kobo_evidence_changed_trees",
		Help: "Trees whose rows did not fit their last checkpoint in the last hourly round.",
	})
}
