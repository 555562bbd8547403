package bench

import (
	"context"
	_ "embed" // embeds the rivals
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// Limits are what the machine achieves without Kobo, measured in the same run.
type Limits struct {
	// Fsyncs is the number of writes of 8 KiB, each followed by fsync, that one program does in a
	// second.
	Fsyncs int64 `json:"fsyncsPerSecond"`
	// Rivals are functions inside PostgreSQL that write the rows of a purchase in two commits. They
	// call no provider, check no token and speak no HTTP.
	Rivals []Result `json:"rivals,omitempty"`
}

// fsyncTime is how long the fsync rate is measured.
const fsyncTime = 2 * time.Second

// limits measures the machine's limits.
func (o Options) limits(ctx context.Context) (l Limits, err error) {
	fmt.Fprintf(o.Progress, "\r%-12s %50s", "fsync", "")
	if l.Fsyncs, err = fsyncs(o.Folder); err != nil || o.Postgres == "" {
		return l, err
	}
	for _, r := range rivals {
		result, err := o.rival(ctx, r)
		if err != nil {
			return l, fmt.Errorf("%s: %w", r.name, err)
		}
		l.Rivals = append(l.Rivals, result)
	}
	return l, nil
}

func fsyncs(folder string) (n int64, err error) {
	f, err := os.CreateTemp(folder, "kobo-bench-fsync-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, 8<<10)
	began := time.Now()
	for ; time.Since(began) < fsyncTime; n++ {
		// The first 8 MiB are written again and again, like the segments of a write-ahead log.
		if _, err := f.WriteAt(block, n%1024*int64(len(block))); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return n * int64(time.Second) / int64(time.Since(began)), nil
}

// rival is a way to write purchases without Kobo.
type rival struct {
	name             string
	companies, batch int
}

var rivals = []rival{
	{"rival hot", 1, 1},
	{"rival spread", many, 1},
	{"rival hot ×100", 1, 100},
}

//go:embed rival.pgsql
var rivalSchema string

// rivalClients is the number of connections of a rival. With more connections, PostgreSQL's
// processes take the processor from each other.
const rivalClients = 16

// rival measures a rival in a new database.
func (o Options) rival(ctx context.Context, r rival) (out Result, err error) {
	i := &instance{}
	defer func() { err = errors.Join(err, i.remove()) }()
	if err := i.found(ctx, o); err != nil {
		return out, err
	}
	// Each client needs a connection. Kobo's pool keeps a part of the connections for other work.
	if i.database, err = withParameter(i.database, "pool_max_conns", fmt.Sprint(4*rivalClients)); err != nil {
		return out, err
	}
	if err := i.watch(ctx); err != nil {
		return out, err
	}
	if _, err := i.postgres[0].Exec(ctx, rivalSchema); err != nil {
		return out, err
	}
	l := load{name: r.name, clients: rivalClients, batch: int64(r.batch)}
	for client := range l.clients {
		l.steps = append(l.steps, rivalStep(ctx, i.postgres[0], client, r.companies, r.batch))
	}
	o.Idle = 0
	is, err := i.drive(ctx, o, l)
	if err != nil {
		return out, err
	}
	out = is.result(l)
	out.Cost = is.cost(is.operations(l))
	return out, nil
}

// rivalStep returns a step that makes purchases of one company in two commits.
func rivalStep(ctx context.Context, d *db.DB, client, companies, batch int) step {
	turn := client
	return func(*conn) error {
		turn += rivalClients
		company := fmt.Sprint("company-", turn%companies)
		ids := make([]string, batch)
		for i := range ids {
			ids[i] = fmt.Sprintf("0199c1f2-7b1e-7c0a-%020d", fresh())
		}
		list := "{" + strings.Join(ids, ",") + "}"
		_, err := d.Exec(ctx, beginRival, company, list)
		if err == nil {
			_, err = d.Exec(ctx, endRival, company, list)
		}
		return err
	}
}
