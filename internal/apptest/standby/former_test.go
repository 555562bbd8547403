package standby_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// row is a row of a company's books that is never changed or removed: an operation, a transfer or an event. Two servers
// whose histories have parted may give the same number to different rows, which have different instants.
type row struct {
	table, company, key string
	at                  int64 // the instant that Kobo gave the row
}

// reference returns the reference of a row's operation, and "" for an event.
func (r row) reference() string {
	reference, _, _ := strings.Cut(r.key, " ")
	return reference
}

// rowsOf returns the rows of all companies' books at a server since an instant.
func rowsOf(ctx context.Context, server string, since time.Time) (map[row]bool, error) {
	d, err := books(ctx, server)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := db.All(ctx, d, func(s db.Scanner) (r row, err error) {
		return r, s.Scan(&r.table, &r.company, &r.key, &r.at)
	}, `
		SELECT 'operation', company_id, id, created_at FROM operation WHERE created_at >= $1 UNION ALL
		SELECT 'transfer', company_id, reference || ' ' || step, created_at FROM ledger_transfer WHERE created_at >= $1 UNION ALL
		SELECT 'event', company_id, ' ' || sequence, created_at FROM event WHERE created_at >= $1`, clock.Micros(since))
	found := map[row]bool{}
	for _, r := range list {
		found[r] = true
	}
	return found, err
}

// books opens Kobo's database at one server, and not through its proxy.
func books(ctx context.Context, server string) (*db.DB, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	u.Path = "/kobo"
	return db.Open(ctx, u.String())
}

// nextTransaction returns the number of a server's next transaction that writes.
func nextTransaction(ctx context.Context, server string) (int64, error) {
	d, err := books(ctx, server)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	return db.One(ctx, d, db.Value[int64], `SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)`)
}

// findings is what a former primary says.
type findings struct {
	behind int      // the rows that it has and the new primary does not
	sent   int      // of these, the rows that Kobo dated after the promotion
	wrongs []string // the writes that must not be there
}

// askFormer lets a former primary be reachable for a while, as a primary of its old timeline, and then asks it for what
// was committed there. The server of a fault other than a freeze has ended, and is started again as it was.
//
//   - No operation, and no first transfer of one, of which a caller has been told may be there alone. The same holds for
//     the transfer of an outcome, if the caller was told of success.
//   - No row there may be younger than the first confirmation that came from the new primary.
//   - Since a server was started again, no transaction may have written anything there.
//
// Rows that the former primary alone has are what it had written when it got no answer from a standby any more. The server
// is killed and started again before it is asked. So it also shows the COMMITs that still wait for a standby.
func (w *trio) askFormer(ctx context.Context, fault string, former int, since, promoted time.Time) (f findings, err error) {
	address, before := w.Servers[former].URL, int64(0)
	if fault != frozen {
		if err = w.Revive(former); err != nil {
			return f, err
		}
		if before, err = nextTransaction(ctx, address); err != nil {
			return f, err
		}
		w.proxies[former].Mend()
	}
	w.market.acknowledged(w.t, enough)
	if w.plant != nil {
		if err = w.plant(ctx, address); err != nil {
			return f, err
		}
	}
	if err = errors.Join(w.Servers[former].Kill(ctx), w.Revive(former)); err != nil {
		return f, err
	}
	if fault != frozen {
		after, err := nextTransaction(ctx, address)
		if err != nil {
			return f, err
		}
		if after != before {
			f.wrongs = append(f.wrongs, fmt.Sprintf("%d transactions wrote at the former primary", after-before))
		}
	}
	there, err := rowsOf(ctx, address, since)
	if err != nil {
		return f, err
	}
	// The new primary is read last, so it has what was replicated in time.
	here, err := rowsOf(ctx, w.Servers[w.Primary()].URL, since)
	if err != nil {
		return f, err
	}
	return f, w.compare(&f, there, here, since, promoted)
}

// compare finds what only the former primary has.
func (w *trio) compare(f *findings, there, here map[row]bool, since, promoted time.Time) error {
	told := w.market.toldOf()
	var known time.Time // the first confirmation of what only the new primary has
	seen, kept := 0, map[row]bool{}
	for r := range here {
		kept[r.undated()] = true // the new primary may have an outcome again, with another instant
		c, confirmed := told[r.reference()]
		if r.table != "operation" || !confirmed {
			continue
		}
		seen++
		if !there[r] && (known.IsZero() || c.at.Before(known)) {
			known = c.at
		}
	}
	if known.IsZero() {
		return fmt.Errorf("none of %d confirmed operations since %s is at the new primary alone", seen, since)
	}
	for r := range there {
		if here[r] {
			continue
		}
		f.behind++
		if r.at > clock.Micros(promoted) {
			f.sent++
		}
		if c, confirmed := told[r.reference()]; confirmed && !kept[r.undated()] && (r.isFirst() || c.final) {
			f.wrongs = append(f.wrongs, fmt.Sprintf("confirmed, and only at the former primary: %+v", r))
		}
		if r.at > clock.Micros(known) {
			f.wrongs = append(f.wrongs, fmt.Sprintf("written to the former primary %s after the first confirmation by the new one: %+v",
				time.Duration(r.at-clock.Micros(known))*time.Microsecond, r))
		}
	}
	return nil
}

// undated returns the row without its instant.
func (r row) undated() row { return row{table: r.table, company: r.company, key: r.key} }

// isFirst reports whether the row is an operation, or the transfer that was committed with it.
func (r row) isFirst() bool { return r.table == "operation" || strings.HasSuffix(r.key, " ") }

// confirmation is what a caller was told of an operation.
type confirmation struct {
	at    time.Time
	final bool // the caller was told of success
}

// toldOf returns what callers were told of each operation, by its reference.
func (m *market) toldOf() map[string]confirmation {
	m.mu.Lock()
	defer m.mu.Unlock()
	told := map[string]confirmation{}
	for _, o := range m.orders {
		if o.reference != "" && o.path != validate {
			told[o.reference] = confirmation{o.confirmed, strings.Contains(o.told.Body, "SUCCESS")}
		}
	}
	return told
}

// A transfer of a confirmed operation is written to a former primary, without its standbys. The check of a failover
// finds it in each of its three ways.
func TestAWriteToAFormerPrimaryIsFound(t *testing.T) {
	w := newTrio(t)
	w.plant = func(ctx context.Context, former string) error {
		d, err := books(ctx, former)
		if err != nil {
			return err
		}
		defer d.Close()
		reference, now := "", clock.Micros(w.market.p.App.Clock.Now())
		for r := range w.market.toldOf() {
			reference = r
		}
		return d.Tx(ctx, func(q db.Querier) error {
			_, err := q.Exec(ctx, `SET LOCAL synchronous_commit = local`)
			if err == nil {
				_, err = q.Exec(ctx, `
					INSERT INTO event (company_id, sequence, id, kind, data, created_at)
					SELECT 'planted', 1, id, kind, data, $1 FROM event LIMIT 1`, now)
			}
			if err == nil {
				_, err = q.Exec(ctx, `INSERT INTO operation SELECT (o).* FROM (
					SELECT jsonb_populate_record(o, jsonb_build_object('company_id', 'planted', 'id', $1::text, 'idempotency_key', '', 'created_at', $2::bigint)) AS o
					FROM operation AS o LIMIT 1) AS planted`, reference, now)
			}
			return err
		})
	}
	w.open(t)
	_, _, found := w.suffer(killed)
	w.market.close()
	for _, want := range []string{"transactions wrote at", "confirmed, and only at", "after the first confirmation"} {
		if !strings.Contains(strings.Join(found.wrongs, "\n"), want) {
			t.Errorf("%q is not among %q", want, found.wrongs)
		}
	}
}
