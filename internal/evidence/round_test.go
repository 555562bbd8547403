package evidence_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// metric returns the value of a metric.
func (o *office) metric(name string) float64 {
	o.t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(o.Metrics()...)
	all, err := r.Gather()
	must(o.t, err)
	for _, f := range all {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	o.t.Fatalf("there is no metric %s", name)
	return 0
}

// files returns the names of the files in the second place.
func (o *office) files() []string {
	o.t.Helper()
	list, err := filepath.Glob(filepath.Join(o.Folder, "*"))
	must(o.t, err)
	return list
}

// A round counts each tree that was changed, and still makes the checkpoints of the other companies. If
// the deployment's own tree was changed, the round makes no checkpoint, but it ends without an error.
func TestARoundCountsWhatWasChanged(t *testing.T) {
	for _, c := range []struct {
		name, change string
		want         float64
		signs        bool
	}{
		{"a tile", `UPDATE evidence_tile SET root = replace(root, substr(root, 1, 4), 'AAAA') WHERE company_id = 'acme'`, 1, true},
		{"a tile whose root is no hash", `UPDATE evidence_tile SET root = '?' WHERE company_id = 'acme'`, 1, true},
		{"a leaf of the deployment", `UPDATE evidence_leaf SET hash = replace(hash, substr(hash, 1, 4), 'AAAA') WHERE leaf = 1`, 1, false},
		{"a leaf of the deployment that is no hash", `UPDATE evidence_leaf SET hash = '?' WHERE leaf = 1`, 1, false},
		{"the deployment's checkpoint", `DELETE FROM evidence_checkpoint WHERE company_id = 'deployment'`, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, o *office) {
				o.start("")
				o.pay("acme", 128)
				o.round()
				o.exec(c.change)
				o.pay("acme", 1)
				o.pay("other", 1)
				before := len(o.heads("other"))
				o.round()
				if got, signs := o.metric("kobo_evidence_changed_trees"), len(o.heads("other")) > before; got != c.want || signs != c.signs {
					t.Errorf("%v trees were changed, and the other company has a checkpoint: %v\n%s", got, signs, o.log.String())
				}
				if !strings.Contains(o.log.String(), "a tree of evidence was changed") {
					t.Error(o.log.String())
				}
			})
		})
	}
}

// A second place that is missing, cannot be written or is empty causes a warning. The program starts,
// and the round makes its checkpoints. Each round tries again to write the newest one.
func TestAMissingSecondPlaceStopsNothing(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		folder := filepath.Join(o.Folder, "mounted")
		o.start(folder)
		must(t, o.Begin(t.Context()))
		o.pay("acme", 1)
		o.round()
		if got := len(o.heads("acme")); got != 1 || len(o.why) > 0 || strings.Count(o.log.String(), "the second place cannot be read") != 2 ||
			!strings.Contains(o.log.String(), "was not written to the second place") {
			t.Errorf("%d checkpoints, closed for %q\n%s", got, o.why, o.log.String())
		}
		o.clock.Advance(2 * time.Hour)
		if got := o.metric("kobo_evidence_place_age_seconds"); got != (3 * time.Hour).Seconds() {
			t.Errorf("the age is %v", got)
		}
		if _, _, err := o.VerifyPlace(t.Context(), o.db); err == nil || !strings.Contains(err.Error(), "checkpoint_folder") {
			t.Errorf("kobo verify says %v", err)
		}
		must(t, os.Mkdir(folder, 0o700))
		wrongs, _, err := o.VerifyPlace(t.Context(), o.db)
		must(t, err)
		if len(wrongs) != 1 || !strings.HasSuffix(wrongs[0], "has no checkpoint of this database, which has 2") {
			t.Errorf("kobo verify says %q about an empty folder", wrongs)
		}
		o.log.Reset()
		o.round()
		if len(o.files()) != 1 || len(o.why) > 0 || !strings.Contains(o.log.String(), "has no checkpoint of this database") {
			t.Errorf("%q, closed for %q\n%s", o.files(), o.why, o.log.String())
		}
		if got := o.metric("kobo_evidence_place_age_seconds"); got != 0 {
			t.Errorf("the age is %v", got)
		}
		if wrongs := o.found(); len(wrongs) > 0 {
			t.Error(wrongs)
		}
		if o.start(""); o.metric("kobo_evidence_place_age_seconds") != 0 {
			t.Error("a program without a second place has an age")
		}
	})
}

// Storage without hard links, such as a mounted bucket, is a second place too.
func TestTheSecondPlaceNeedsNoLinks(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		evidence.WithoutLinks(o.Service)
		o.pay("acme", 1)
		o.round()
		o.round()
		if len(o.files()) != 1 {
			t.Errorf("%q\n%s", o.files(), o.log.String())
		}
		if wrongs := o.found(); len(wrongs) > 0 {
			t.Error(wrongs)
		}
	})
}

// Files with the name of another deployment are a finding, also next to files of this one. So a renamed
// deployment does not hide its older files.
func TestARenamedDeploymentKeepsItsFiles(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 1)
		o.round()
		path := o.files()[0]
		must(t, os.Rename(path, strings.Replace(path, name, "another", 1)))
		o.pay("acme", 1)
		o.clock.Advance(time.Minute)
		must(t, o.Begin(t.Context()))
		if len(o.why) != 1 || len(o.files()) != 2 {
			t.Errorf("closed for %q, %q", o.why, o.files())
		}
		if must(t, o.Begin(t.Context())); len(o.why) != 1 {
			t.Errorf("closed again for %q", o.why)
		}
		wrongs, _, err := o.VerifyPlace(t.Context(), o.db)
		if err != nil || len(wrongs) != 1 || !strings.Contains(wrongs[0], "1 files have the name of another deployment") {
			t.Errorf("%q %v", wrongs, err)
		}
	})
}

// A receipt of the event about the newest checkpoint makes no checkpoint, because that one would cause
// the next such event. Checkpoints on demand are one a second for all companies, and a company has a
// limited number in a day. None of them makes a file.
func TestCheckpointsOnDemandDoNotFeedThemselves(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 1)
		o.pay("other", 1)
		receipt := func(company, reference string, want fault.Kind) {
			t.Helper()
			if _, err := o.Receipt(t.Context(), company, reference, nil); want == "" && err != nil || want != "" && !fault.Is(err, want) {
				t.Errorf("%s of %s: %v, want %q", reference, company, err, want)
			}
		}
		receipt("acme", "p1", "")
		receipt("other", "p2", fault.Limited)
		o.clock.Advance(time.Second)
		receipt("other", "p2", "")
		events, _, err := event.NewService(o.db, o.book).Feed(t.Context(), "acme", 1, 10, 0)
		if err != nil || len(events) != 1 || events[0].Kind != event.CheckpointSigned {
			t.Fatalf("%+v %v", events, err)
		}
		o.clock.Advance(time.Minute)
		receipt("acme", events[0].ID, fault.Refused)
		if len(o.heads("acme")) != 1 || len(o.files()) != 0 {
			t.Errorf("checkpoints of the sizes %v, files %q", o.heads("acme"), o.files())
		}
		o.pay("acme", 1)
		o.round()
		receipt("acme", events[0].ID, "")
		if len(o.files()) != 1 {
			t.Errorf("files %q", o.files())
		}
		evidence.LimitPerDay(o.Service, 2)
		o.pay("acme", 1)
		receipt("acme", "p4", fault.Limited)
		o.clock.Advance(23 * time.Hour)
		receipt("acme", "p4", "")
	})
}

// A run that takes too long ends, and the next run goes on after the last company. So the last companies get
// their checkpoint, although the first ones have new rows all the time, and the first ones get only one in a round.
func TestARoundReachesTheLastCompany(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		companies := []string{"acme", "beta", "gamma", "other", "zulu"}
		for _, c := range []string{"beta", "gamma", "zulu"} {
			u := ledger.Found(c)
			u.OpenAccounts(ledger.Account{ID: "out", Floor: money.NoFloor}, ledger.Account{ID: "in"})
			must(t, o.book.Commit(t.Context(), u))
		}
		for _, c := range companies {
			o.pay(c, 1)
		}
		evidence.LimitRound(o.Service, time.Nanosecond, 2)
		began := o.clock.Now()
		sign := func() time.Time {
			t.Helper()
			next, err := o.Sign(t.Context(), job.Job{})
			must(t, err)
			return next
		}
		for runs := 1; ; runs++ {
			if next := sign(); next.After(o.clock.Now()) {
				if !next.Equal(began.Add(time.Hour)) {
					t.Errorf("the next round is at %s", next)
				}
				break
			}
			if runs > 3*len(companies) {
				t.Fatal("the round does not end")
			}
			o.pay("acme", 1)
			o.pay("beta", 1)
			o.clock.Advance(time.Second)
		}
		for _, c := range companies {
			if got := o.heads(c); len(got) != 1 {
				t.Errorf("%s has checkpoints of the sizes %v", c, got)
			}
		}
		if got, want := o.metric("kobo_evidence_round_age_seconds"), o.clock.Now().Sub(began).Seconds(); got != want {
			t.Errorf("the last round is %v s old, want %v", got, want)
		}
		if sign(); len(o.heads("acme")) != 2 || len(o.heads("zulu")) != 1 {
			t.Errorf("the second round begins with %v, %v", o.heads("acme"), o.heads("zulu"))
		}
	})
}
