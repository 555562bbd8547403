package bench

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// A short soak moves money with faults, keeps a record after each sample, and finds the ledger sound.
func TestSoakOnSQLite(t *testing.T) { soakFor(t, "") }

func TestSoakOnPostgreSQL(t *testing.T) { soakFor(t, dbtest.URL(t, db.Postgres)) }

func soakFor(t *testing.T, postgres string) {
	t.Setenv(isChild, "yes")
	kept := 0
	o := SoakOptions{
		Rate: 40, Clients: 16, Duration: 8 * time.Second, Every: time.Second, Seed: 1, Window: 2 * time.Second, Postgres: postgres,
		Folder: t.TempDir(), Child: []string{os.Args[0]}, Progress: io.Discard,
		Keep: func(SoakReport) error { kept++; return nil },
	}
	is, err := Soak(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	last := is.Samples[len(is.Samples)-1]
	if len(is.Samples) != 9 || kept != 10 || last.Failed != 0 || is.FirstFailure != "" {
		t.Errorf("%d samples, kept %d times, %d unexplained responses, the first: %s", len(is.Samples), kept, last.Failed, is.FirstFailure)
	}
	if last.Operations < 100 || last.Refunded == 0 || last.Pending == 0 || last.Webhooks == 0 || last.P99 == 0 {
		t.Errorf("the load: %+v", last)
	}
	if last.Memory == 0 || last.Heap == 0 || last.Goroutines == 0 || last.Handles == 0 || last.Stored == 0 || last.Books == 0 {
		t.Errorf("the sizes: %+v", last)
	}
	if tables := len(last.Tables); postgres != "" && tables < 20 {
		t.Errorf("%d tables", tables)
	}
	if len(is.Checks) == 0 {
		t.Error("nothing was judged")
	}
	if left, err := os.ReadDir(o.Folder); err != nil || len(left) > 0 {
		t.Errorf("the soak left %v behind (%v)", left, err)
	}
	if err := is.Chart(xmlCheck{t}); err != nil {
		t.Error(err)
	}
}

// A soak counts an exchange for tokens that fails, and tries it again.
func TestAFailedExchangeIsRepeated(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch asked++; asked {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			_, _ = io.WriteString(w, `{"accessToken":"second"}`)
		default:
			cancel()
		}
	}))
	defer server.Close()
	s := &soak{place: &place{target: target{host: server.Listener.Addr().String()}}}
	s.bearers.set([]Account{{Credentials: app.Credentials{Reference: "acme"}, token: "first"}})
	s.renew(ctx, time.Millisecond, time.Millisecond)
	if _, failed, _ := s.done.since(); failed != 1 || !strings.Contains(s.done.failure(), "HTTP 503") {
		t.Errorf("%d failures, the first: %s", failed, s.done.failure())
	}
	if now := (*s.bearers.all.Load())[0].token; now != "second" {
		t.Errorf("the token is %q", now)
	}
}

// xmlCheck is a writer that fails the test if one write is not a whole XML document.
type xmlCheck struct{ t *testing.T }

func (x xmlCheck) Write(text []byte) (int, error) {
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return len(text), nil
		} else if err != nil {
			return 0, err
		}
	}
}

// steadyRate is the load of the steady program, in operations per second.
const steadyRate = 20

// steady returns the samples of a program that does not grow.
func steady() (all []Sample) {
	for n := range int64(41) {
		all = append(all, Sample{
			Seconds: n * 30, Operations: n * 600, Memory: 200*megabyte + n%3*megabyte, Heap: 100 * megabyte, Goal: 150 * megabyte,
			Goroutines: 120 + n%7, Handles: 60, Stored: 40*megabyte + n*600*3000, Tables: map[string]int64{"event": n * 600 * 1500},
			JobLate: n % 3, Open: 20, OpenAge: 900,
		})
	}
	return all
}

// Each kind of growth is found, by the check of that number alone.
func TestGrowthIsNotFlat(t *testing.T) {
	if checks := judge(steady(), steadyRate); !flat(checks) {
		t.Fatalf("a steady program: %+v", checks)
	}
	for name, change := range map[string]func(n int64, s *Sample){
		"resident memory":             func(n int64, s *Sample) { s.Memory += n * 3 * megabyte },
		"goroutines":                  func(n int64, s *Sample) { s.Goroutines += n },
		"open file descriptors":       func(n int64, s *Sample) { s.Handles += n },
		"delay of the most overdue":   func(n int64, s *Sample) { s.JobLate = map[bool]int64{true: 61}[n == 20] },
		"age of the oldest open":      func(n int64, s *Sample) { s.OpenAge = n * 60 },
		"open operations":             func(n int64, s *Sample) { s.Open += n * 5 },
		"unexplained responses":       func(n int64, s *Sample) { s.Failed = n / 40 },
		"table event":                 func(n int64, s *Sample) { s.Tables["event"] += n * n * 600 * 40 },
		"database, bytes":             func(n int64, s *Sample) { s.Stored += n * n * 600 * 80 },
		"age of the oldest waiting e": func(n int64, s *Sample) { s.Event = n * 2 },
	} {
		all := steady()
		for n := range all {
			change(int64(n), &all[n])
		}
		onlyNotFlat(t, all, name)
	}
}

// onlyNotFlat fails the test unless the check whose name begins so finds the samples not flat, and every other check finds
// them flat.
func onlyNotFlat(t *testing.T, all []Sample, name string) {
	t.Helper()
	found := false
	for _, c := range judge(all, steadyRate) {
		is := strings.HasPrefix(c.Name, name)
		if found = found || is; c.Flat == is {
			t.Errorf("%s: the check of %s says flat=%t: %+v", name, c.Name, c.Flat, c)
		}
	}
	if !found {
		t.Errorf("there is no check of %s", name)
	}
}

// A table that grows in one step an hour is flat. If its later steps are larger, it is not.
func TestATableThatGrowsInSteps(t *testing.T) {
	all := steady()
	steps := func(of func(step int64) int64) {
		for n := range all {
			all[n].Tables["evidence_tile"] = of(int64(n+9) / 10) // the step comes just after each tenth sample
		}
	}
	steps(func(step int64) int64 { return step * 3 * megabyte })
	if checks := judge(all[:40], steadyRate); !flat(checks) {
		t.Errorf("%+v", checks)
	}
	steps(func(step int64) int64 { return step * step * step * megabyte })
	onlyNotFlat(t, all[:40], "table evidence_tile")
}

// A sample without the numbers of the database does not count as a sample of zeros.
func TestABlindSampleIsNotJudged(t *testing.T) {
	all := steady()
	for n := range all[:6] {
		all[n].Blind, all[n].Open = true, 0
	}
	for n := range all {
		all[n].Open *= 10
	}
	if checks := judge(all, steadyRate); !flat(checks) {
		t.Errorf("%+v", checks)
	}
}

// A program that never shows the numbers of its database is not flat.
func TestABlindRunIsNotFlat(t *testing.T) {
	for _, part := range [][2]int{{0, 10}, {31, 41}} {
		all := steady()
		for n := part[0]; n < part[1]; n++ {
			all[n].Blind, all[n].Open, all[n].OpenAge, all[n].JobLate = true, 0, 0, 0
		}
		onlyNotFlat(t, all, "samples without")
	}
}

// A program that stands still for a fifth of the run does not grow, and is not flat.
func TestAProgramThatStandsStillIsNotFlat(t *testing.T) {
	all := steady()
	for n := 33; n < len(all); n++ {
		still := all[33]
		still.Seconds = all[n].Seconds
		all[n] = still
	}
	onlyNotFlat(t, all, "operations that are behind")
}

func TestMetricsAreRead(t *testing.T) {
	text := "# HELP a b\na 3\nb{c=\"d e\",f=\"g\"} 1.5\nb{c=\"h\"} -2e+01\n"
	m, err := parseMetrics([]byte(text))
	if err != nil || m["a"].sum != 3 || m["b"].sum != -18.5 || m["b"].most != 1.5 || m["b"].least != -20 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := parseMetrics([]byte("a b\n")); err == nil {
		t.Error("a line without a number was read")
	}
	if err := new(Sample).read([]byte("kobo_figures_up{source=\"jobs\"} 1\n")); err == nil {
		t.Error("metrics that lack names were read")
	}
}

func TestSoakOptionsThatAreRefused(t *testing.T) {
	good := SoakOptions{Rate: 20, Clients: 8, Duration: time.Hour, Every: time.Minute}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*SoakOptions){
		"no rate": func(o *SoakOptions) { o.Rate = 0 }, "no clients": func(o *SoakOptions) { o.Clients = 0 },
		"too few samples": func(o *SoakOptions) { o.Duration = 7 * time.Minute }, "no interval": func(o *SoakOptions) { o.Every = 0 },
	} {
		o := good
		if change(&o); !errors.Is(o.Check(), ErrOptions) {
			t.Errorf("%s: %v", what, o.Check())
		}
	}
	if good.Name = "kobo"; !errors.Is(good.Check(), ErrForeign) {
		t.Error(good.Check())
	}
}
