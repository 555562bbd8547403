package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// isChild makes the test binary a child process of the bench.
const isChild = "KOBO_TEST_BENCH_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(isChild) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := Child(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func brief(t *testing.T, mixes ...string) Options {
	t.Setenv(isChild, "yes")
	return Options{
		Mixes: mixes, Clients: 4, Duration: time.Second, Short: true, Folder: t.TempDir(), Child: []string{os.Args[0]}, Progress: io.Discard,
	}
}

// A run of one second on SQLite makes purchases, finds the ledger sound, and leaves nothing behind.
func TestAShortRunOnSQLite(t *testing.T) {
	o := brief(t, "hot", "payouts", "flood", "lists")
	o.TLS, o.Limits = true, true
	is, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range is.Results {
		if names = append(names, r.Mix); r.Operations == 0 || r.Failed != 0 || r.P50 == 0 || r.P999 < r.P50 {
			t.Errorf("%+v", r)
		}
	}
	if got := strings.Join(names, ", "); got != "hot, payouts, flood alone, flood polite, flood flooder, lists alone, lists polite, lists flooder" {
		t.Error(got)
	}
	if hot := is.Results[0]; hot.CPU["kobo"] == 0 || hot.Memory["kobo"] == 0 || hot.Stored == 0 {
		t.Errorf("the cost of a purchase: %+v", hot.Cost)
	}
	if !is.Short || is.Limits.Fsyncs == 0 {
		t.Errorf("%+v", is)
	}
	if left, err := os.ReadDir(o.Folder); err != nil || len(left) > 0 {
		t.Errorf("the run left %v behind (%v)", left, err)
	}
	var table strings.Builder
	if err := is.Print(&table, &is); err != nil || !strings.Contains(table.String(), "SHORT") || !strings.Contains(table.String(), "×1.00") {
		t.Errorf("%v\n%s", err, &table)
	}
}

// On PostgreSQL the run counts commits, and drops its database.
func TestAShortRunOnPostgreSQL(t *testing.T) {
	o := brief(t, "hot")
	o.Postgres, o.Name, o.Limits = dbtest.URL(t, db.Postgres), "kobo_bench_test", true
	is, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if hot := is.Results[0]; hot.Operations == 0 || hot.Failed != 0 || hot.CPU["postgres"] == 0 || hot.WAL == 0 || hot.Commits == 0 {
		t.Errorf("%+v", hot)
	}
	for _, r := range is.Limits.Rivals {
		if r.Operations == 0 || r.Failed != 0 {
			t.Errorf("%+v", r)
		}
	}
	printed := new(strings.Builder)
	if err := is.Print(printed, nil); err != nil {
		t.Fatal(err)
	}
	if want := "hot: stored by"; !strings.Contains(printed.String(), want) {
		t.Errorf("%q is not in the report:\n%s", want, printed)
	}
	d, err := db.Open(t.Context(), o.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM pg_database WHERE datname = 'kobo_bench_test'`)
	if err != nil || n != 0 {
		t.Errorf("%d databases are left, %v", n, err)
	}
}

// briefOnCitus returns the options of a short run on a Citus whose tables have five shards. Without a Citus the test is skipped.
func briefOnCitus(t *testing.T, name string) Options {
	t.Helper()
	o := brief(t, "hot")
	var err error
	if o.Postgres, err = withParameter(dbtest.CitusURL(t), shardCount, "5"); err != nil {
		t.Fatal(err)
	}
	o.Name = name
	return o
}

// On a Citus the run creates a database on each node, counts what all nodes do, and drops it everywhere.
func TestAShortRunOnCitus(t *testing.T) {
	o := briefOnCitus(t, "kobo_bench_citus")
	is, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	nodes := dbtest.CitusNodes(t, o.Postgres)
	if want := fmt.Sprintf("citus with %d workers and 5 shards", len(nodes)-1); is.Engine != want {
		t.Errorf("the engine is %q, want %q", is.Engine, want)
	}
	if hot := is.Results[0]; hot.Operations == 0 || hot.Failed != 0 || hot.CPU["postgres"] == 0 || hot.WAL == 0 || hot.Commits == 0 {
		t.Errorf("%+v", hot)
	}
	for _, node := range nodes {
		if left := dbtest.Column(t, node, `SELECT datname FROM pg_database WHERE datname = 'kobo_bench_citus'`); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
	o.Fill = 1
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrOptions) {
		t.Errorf("--fill: %v", err)
	}
}

// started returns a running instance, which the end of the test removes.
func started(t *testing.T, o Options) *instance {
	t.Helper()
	i, err := o.start(t.Context(), mixes[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.remove(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// An instance on a Citus has its rows at the workers, and the run counts each node of this machine.
func TestAnInstanceOnCitusHasAllNodes(t *testing.T) {
	o := briefOnCitus(t, "kobo_bench_citus_nodes")
	i := started(t, o)
	nodes, servers := len(dbtest.CitusNodes(t, o.Postgres)), map[int]bool{}
	for _, p := range i.processes {
		if p.tree {
			servers[p.pid] = true
		}
	}
	if len(i.postgres) != nodes || len(servers) != nodes {
		t.Errorf("%d connections and %d servers for %d nodes", len(i.postgres), len(servers), nodes)
	}
	for _, d := range i.postgres {
		if !d.IsDivided() {
			t.Error("a node does not know the others")
		}
	}
	if shards := dbtest.Column(t, i.database, `SELECT shard_count::text FROM citus_tables WHERE table_name = 'ledger_head'::regclass`); !slices.Equal(shards, []string{"5"}) {
		t.Errorf("%v shards", shards)
	}
	if _, err := (server{o.Postgres}).create(t.Context(), o.Name); err == nil {
		t.Error("an existing database was created again")
	}
	if _, err := i.postgres[0].Exec(t.Context(), `SELECT count(*) FROM ledger_head`); err != nil {
		t.Errorf("after the refusal the database is gone: %v", err)
	}
}

// The bench neither creates nor drops a database with a foreign name. It says so before it connects.
func TestForeignDatabasesAreRefused(t *testing.T) {
	s := server{"postgres://nobody@127.0.0.1:1/postgres"}
	for _, name := range []string{"kobo", "postgres", "kobo_bench", "kobo_bench_", "xkobo_bench_a", `kobo_bench_a"; DROP DATABASE kobo; --`, "kobo_bench_A"} {
		if _, err := s.create(t.Context(), name); !errors.Is(err, ErrForeign) {
			t.Errorf("create %q: %v", name, err)
		}
		if err := s.drop(t.Context(), name); !errors.Is(err, ErrForeign) {
			t.Errorf("drop %q: %v", name, err)
		}
		o := Options{Clients: 1, Duration: time.Minute, Name: name}
		if err := o.Check(); !errors.Is(err, ErrForeign) {
			t.Errorf("--name %q: %v", name, err)
		}
	}
	if err := s.drop(t.Context(), "kobo_bench_a"); err == nil || errors.Is(err, ErrForeign) {
		t.Errorf("a database of the bench: %v", err)
	}
}

// The bench sends a company's requests only to an instance that cannot move real money.
func TestLiveInstancesAreRefused(t *testing.T) {
	var asked atomic.Int64
	health := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			asked.Add(1)
		}
		_, _ = io.WriteString(w, health)
	}))
	defer s.Close()
	o := Options{URL: s.URL, Clients: 1, Duration: time.Minute, Progress: io.Discard, Account: Account{Credentials: app.Credentials{Reference: "c", APIKey: "k"}}}
	for _, health = range []string{`{"status":"ok","environment":"live"}`, `{"status":"ok"}`, `{"environment":""}`, `dev`} {
		if _, err := Run(t.Context(), o); !errors.Is(err, ErrLive) || asked.Load() != 0 {
			t.Errorf("%s: %v, %d requests", health, err, asked.Load())
		}
	}
	health = `{"environment":"staging"}`
	if _, err := Run(t.Context(), o); err == nil || errors.Is(err, ErrLive) || asked.Load() == 0 {
		t.Errorf("a staging instance: %v, %d requests", err, asked.Load())
	}
}

// A running kobo dev may be driven. Its ledger is verified through its API.
func TestARunningInstance(t *testing.T) {
	o := brief(t)
	i := started(t, o)
	o.URL, o.Account = "http://"+i.target.host, i.companies[0]
	is, err := Run(t.Context(), o)
	if err != nil || len(is.Results) < 4 {
		t.Fatalf("%+v, %v", is, err)
	}
	for _, r := range is.Results {
		if r.Operations == 0 || r.Failed != 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	good := Options{Clients: 1, Duration: time.Minute}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*Options){
		"no such mix": func(o *Options) { o.Mixes = []string{"hot", "cold"} }, "no clients": func(o *Options) { o.Clients = 0 },
		"short": func(o *Options) { o.Duration = time.Second }, "longer than a token": func(o *Options) { o.Duration = time.Hour },
		"negative rate": func(o *Options) { o.Rate = -1 }, "remote TLS": func(o *Options) { o.URL, o.TLS = "http://x", true },
	} {
		o := good
		if change(&o); !errors.Is(o.Check(), ErrOptions) {
			t.Errorf("%s: %v", what, o.Check())
		}
	}
}

// stalled serves responses at once, but for one pause of all connections.
func stalled(t *testing.T, after, pause time.Duration) target {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	began := time.Now()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				buf := make([]byte, 1024)
				for {
					if _, err := c.Read(buf); err != nil {
						return
					}
					if since := time.Since(began); since > after && since < after+pause {
						<-time.After(after + pause - since)
					}
					if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); err != nil {
						return
					}
				}
			}()
		}
	}()
	return target{host: l.Addr().String()}
}

// A server pauses for a third of a run. In an open loop a third of the operations should have begun
// in the pause, so their latencies show it. In a closed loop only one operation of each client does.
func TestCoordinatedOmission(t *testing.T) {
	const pause = 500 * time.Millisecond
	for rate, long := range map[int64]bool{0: false, 200: true} {
		at := stalled(t, 500*time.Millisecond, pause)
		do := repeat(http.StatusOK, "ok", at.request(http.MethodGet, "/", "", "", ""))
		l := load{target: at, clients: 1, rate: rate, steps: []step{do}}
		got, err := l.run(t.Context(), 0, 3*pause, io.Discard, func() error { return nil })
		if err != nil || got.failed > 0 || got.n < 50 {
			t.Fatalf("rate %d: %+v, %v", rate, got.first, err)
		}
		if p90 := time.Duration(got.at(900)) * time.Microsecond; (p90 > pause/3) != long {
			t.Errorf("rate %d: p90 is %s of %d operations", rate, p90, got.n)
		}
	}
}

// Operations that an overloaded open loop never began still count, with the time that they waited.
func TestOperationsThatNeverBegan(t *testing.T) {
	start := time.Now().Add(-2 * time.Second)
	r := &runner{load: load{rate: 100}, window: window{start, start.Add(time.Second)}, start: start}
	r.taken.Store(60)
	var out counted
	if r.rest(&out); out.n != 40 || out.unbegun != 40 || out.operations(r.load) != 0 || out.at(500) < 1_000_000 {
		t.Errorf("%d operations, p50 %d µs", out.n, out.at(500))
	}
}
