package evidence

import (
	"context"
	"errors"
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

// signAll makes a checkpoint of each company with new rows, and returns the time of the next run.
func (s *Service) signAll(ctx context.Context) (next time.Time, err error) {
	limited, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	ctx = db.WithLongTimeout(ctx)
	altered := map[string]bool{}
	defer func() { s.changed.Set(float64(len(altered))) }()
	unfinished := false
	for after, first := "", true; ; first = false {
		heads, err := ledger.Heads(ctx, s.DB, after, companiesAtOnce)
		if err != nil {
			return next, err
		}
		if len(heads) > 0 {
			after = heads[len(heads)-1].Company
		} else if !first {
			break
		}
		if first {
			none, err := ledger.Leaves(ctx, s.DB, "")
			if err != nil {
				return next, err
			}
			heads = append(heads, ledger.Head{Leaf: none})
		}
		more, err := s.signPage(ctx, heads, func() bool { return limited.Err() == nil }, altered)
		if err != nil {
			return next, err
		}
		if unfinished = unfinished || more; limited.Err() != nil {
			return s.Clock.Now(), ctx.Err() // the next run continues
		}
	}
	if unfinished {
		return s.Clock.Now(), nil
	}
	return s.Clock.Now().Add(signEvery), nil
}

// signPage makes checkpoints of several companies, and tells the companies. It reports whether a
// company has further rows that it did not read. It adds each tree that was changed to altered.
func (s *Service) signPage(ctx context.Context, heads []ledger.Head, more func() bool, altered map[string]bool) (unfinished bool, err error) {
	companies := make([]string, len(heads))
	for i, h := range heads {
		companies[i] = h.Company
	}
	have, err := sizes(ctx, s.DB, companies)
	if err != nil {
		return false, err
	}
	waiting, err := untold(ctx, s.DB, companies)
	if err != nil {
		return false, err
	}
	s.tellAll(ctx, waiting)
	var all []grown
	for _, h := range heads {
		if !more() {
			unfinished = true
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
			unfinished = true
		case IsAltered(err):
			altered[h.Company] = true
			_ = s.report(err) // it is logged, and the other companies get their checkpoints
		default:
			return false, err
		}
	}
	made, err := s.sign(ctx, all, false)
	if IsAltered(err) {
		altered[Deployment] = true
		_ = s.report(err) // it is logged, and the other companies are still compared
		return unfinished, nil
	}
	if err != nil {
		return false, err
	}
	s.tellAll(ctx, made)
	return unfinished, nil
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
	return []prometheus.Collector{s.changed, age}
}

func newChanged() prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kobo_evidence_changed_trees",
		Help: "Trees whose rows did not fit their last checkpoint in the last hourly round.",
	})
}
