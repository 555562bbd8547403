package apptest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/report"
)

var tester = operator.Local("test")

// takeBackup backs up a home's database. It returns a function that restores this backup into a
// new database. The sandbox keeps its state, as real providers do.
func takeBackup(t *testing.T, h apptest.Home) (restored func() apptest.Home) {
	t.Helper()
	if strings.HasPrefix(h.Database, "postgres") {
		dump := dbtest.Dump(t, h.Database)
		return func() apptest.Home {
			again := apptest.Home{Data: h.Data, Database: dbtest.Load(t, dump)}
			d := dbtest.Open(t, again.Database)
			d.SignWith(signer(t, h))
			if err := operator.New(d, nil, clock.System{}).CloseAccess(t.Context(), tester, "restored from a dump"); err != nil {
				t.Fatal(err)
			}
			return again
		}
	}
	file := filepath.Join(t.TempDir(), "backup")
	if _, err := app.Backup(t.Context(), app.Copying{Database: h.Database, File: file}); err != nil {
		t.Fatal(err)
	}
	return func() apptest.Home {
		again := apptest.Home{Data: h.Data, Database: "sqlite:" + filepath.Join(t.TempDir(), "kobo.db")}
		held, kept, err := app.Restore(t.Context(), app.Copying{Mode: app.Sandbox, Database: again.Database, File: file, By: tester, Signer: signer(t, h)})
		if err != nil || kept != "" || !held.Added || len(held.Heads) == 0 {
			t.Fatalf("%+v %q %v", held, kept, err)
		}
		return again
	}
}

// signer returns the evidence keys of a home.
func signer(t *testing.T, h apptest.Home) db.Signer {
	t.Helper()
	keys, err := app.DevConfig(h.Data, h.Database).Evidence()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// opened checks that API access is closed in a program on a restored database, and then opens API
// access.
func opened(t *testing.T, p *apptest.Program) {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodPost, "/api/v1/auth/generate-token/"+p.Reference, nil, "x-api-key", p.APIKey)
	if err != nil || a.Status != http.StatusServiceUnavailable {
		t.Errorf("the door of a restored database is open: %s %v", a, err)
	}
	if a, err := p.Raw(t.Context(), http.MethodGet, "/readyz?for=companies", nil); err != nil || a.Status != http.StatusServiceUnavailable || !strings.Contains(a.Body, `"door":"closed"`) {
		t.Errorf("ready with a closed door: %s %v", a, err)
	}
	// The workers start shortly after the program has sent its first response.
	apptest.Eventually(t, func() string {
		if a, err := p.Raw(t.Context(), http.MethodGet, "/readyz", nil); err != nil || a.Status != http.StatusOK || !strings.Contains(a.Body, `"door":"closed"`) {
			return fmt.Sprintf("closed API access is said, and the program is ready: %s %v", a, err)
		}
		return ""
	})
	if err := p.App.Operators.OpenAccess(t.Context(), tester); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		if a, err := p.Raw(t.Context(), http.MethodGet, "/readyz?for=companies", nil); err != nil || a.Status != http.StatusOK {
			return fmt.Sprint(a, err)
		}
		return ""
	})
}

// buyer sends one purchase after another until it is stopped, each under a new Idempotency-Key. It
// stores the orders and the responses.
type buyer struct {
	orders  []apptest.Order
	answers []apptest.Answer
	stop    context.CancelFunc
	done    chan struct{}
}

func (b *buyer) buy(t *testing.T, p *apptest.Program, bundle apptest.Bundle, name string) {
	ctx, stop := context.WithCancel(context.Background())
	b.stop, b.done = stop, make(chan struct{})
	go func() {
		defer close(b.done)
		for i := 0; ctx.Err() == nil; i++ {
			key := fmt.Sprint(name, "-", i)
			order := p.Order(bundle, key, "10")
			a, err := p.Try(context.Background(), http.MethodPost, apptest.PurchaseData, order, header, key)
			if err != nil || a.Status != http.StatusOK {
				t.Errorf("%s: %s %v", key, a, err)
			}
			b.orders, b.answers = append(b.orders, order), append(b.answers, a)
		}
	}()
}

// A program on a restored database replays the response to each request that was made before the
// backup, byte for byte. It executes no operation a second time. For open operations it asks the
// provider for the outcome, and never sends the payment again. It also finds payments that the
// providers executed after the backup.
func TestABackupAnswersAsTheDatabaseDid(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		dbtest.NeedDump(t, home.Database)
		p := home.Start(t, apptest.Window(2*time.Second))
		bundle := p.Bundle()
		var before []apptest.Order
		var answers []apptest.Answer
		for i, ending := range []string{"10", "01", "06", "10"} {
			order := p.Order(bundle, fmt.Sprint("before-", i), ending)
			before, answers = append(before, order), append(answers, p.Buy(order, header, order.IdempotencyKey))
		}
		paidOut := send(p.Client, verify(t, p.Client, "06"), 1000).Want(t, http.StatusOK)
		var load [3]buyer
		for i := range load {
			load[i].buy(t, p, bundle, fmt.Sprint("load-", i))
		}
		restored := takeBackup(t, home)
		for i := range load {
			load[i].stop()
			<-load[i].done
		}
		lost := p.Order(bundle, "lost", "10")
		gone := p.Bought(p.Buy(lost, header, "lost"))
		pay(t, p.Client, p.SettlementAccountNumber, 700, nil)
		p.Stop()

		q := restored().Start(t, apptest.Window(2*time.Second))
		opened(t, q)
		holdsTogether(t, q)
		for i, order := range before {
			same(t, order.IdempotencyKey, answers[i], q.Buy(order, header, order.IdempotencyKey))
		}
		for i := range load {
			for n, order := range load[i].orders {
				use := q.Do(http.MethodGet, "/api/v1/idempotency/"+order.IdempotencyKey, nil)
				if use.Status == http.StatusOK && strings.Contains(use.Body, `"DONE"`) {
					same(t, order.IdempotencyKey, load[i].answers[n], q.Buy(order, header, order.IdempotencyKey))
				}
			}
		}
		q.Advance(time.Minute)
		q.Advance(time.Hour)
		resolved(t, q.Client)
		if tr := q.Transaction("before-2"); tr.Status != "SUCCESS" {
			t.Errorf("what was on its way: %+v", tr)
		}
		var pd struct{ Data paid }
		if paidOut.Into(t, &pd); status(q.Client, pd.Data.Reference).Status != "SUCCESS" {
			t.Errorf("the payout on its way: %+v", status(q.Client, pd.Data.Reference))
		}
		sales := q.Sales()
		bought := map[string]bool{pd.Data.Reference: true}
		for _, tr := range q.Transactions() {
			bought[tr.TransactionID] = true
			if sales[tr.TransactionID].Executions > 1 {
				t.Errorf("%s was executed %d times", tr.TransactionID, sales[tr.TransactionID].Executions)
			}
		}
		unknown := 0 // payments that a provider executed but that are missing in the ledger
		for reference, sale := range sales {
			if sale.Requests > 0 && !bought[reference] {
				unknown++
			}
		}
		found := strings.Join(breaks(t, q), "\n")
		if n := strings.Count(found, "UNKNOWN_DEBIT"); n != unknown || bought[gone.TransactionID] || n == 0 {
			t.Errorf("the providers did %d things that are not in the book, and these are found:\n%s", unknown, found)
		}
		if n := strings.Count(found, "\n") + 1; n != unknown {
			t.Errorf("%d breaks for %d things that were lost:\n%s", n, unknown, found)
		}
		holdsTogether(t, q)
		if n := creditEvents(q.Client); n != 1 {
			t.Errorf("%d credits after the backup were found by the sweep", n)
		}
	})
}

// holdsTogether checks that the ledger of every company adds up.
func holdsTogether(t *testing.T, p *apptest.Program) {
	t.Helper()
	heads, err := p.App.Reports.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range heads {
		if i, err := p.App.Reports.Integrity(t.Context(), h.Company); err != nil || !i.Intact() {
			t.Errorf("%s: %v %v", h.Company, i.Wrongs, err)
		}
	}
}

// If a backup or a restore is killed, the destination is either the old file or the complete new
// file. The next backup or restore succeeds.
func TestADeathWhileCopyingLeavesTheOldOrTheNew(t *testing.T) {
	t.Parallel()
	home := apptest.NewHome(t, db.SQLite)
	p := home.Start(t)
	bundle := p.Bundle()
	p.Bought(p.Buy(p.Order(bundle, "first", "10")))
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	for _, dies := range []string{"copied", "checked"} {
		apptest.Backup(t, home, file, dies)
		if _, err := os.Stat(file); err == nil {
			t.Errorf("died when it had %s, and the backup is there", dies)
		}
	}
	apptest.Backup(t, home, file, "")
	p.Bought(p.Buy(p.Order(bundle, "second", "10")))
	apptest.Backup(t, home, file, "checked")
	if n := purchasesIn(t, file); n != 1 {
		t.Errorf("the backup that was to be overwritten holds %d purchases", n)
	}
	if _, _, err := app.Restore(t.Context(), app.Copying{Mode: app.Sandbox, Database: home.Database, File: file, By: tester}); !errors.Is(err, db.ErrInUse) {
		t.Errorf("restored under a serving program: %v", err)
	}
	p.Stop()
	path, _ := db.SQLitePath(home.Database)
	for dies, want := range map[string]int64{"copied": 2, "prepared": 2, "replaced": 1} {
		target := filepath.Join(t.TempDir(), "kobo.db")
		if err := db.CopySQLite(t.Context(), path, target); err != nil {
			t.Fatal(err)
		}
		apptest.Restore(t, apptest.Home{Data: home.Data, Database: "sqlite:" + target}, file, dies)
		if n := purchasesIn(t, target); n != want {
			t.Errorf("died when it had %s: %d purchases, want %d", dies, n, want)
		}
		apptest.Restore(t, apptest.Home{Data: home.Data, Database: "sqlite:" + target}, file, "")
		if n := purchasesIn(t, target); n != 1 {
			t.Errorf("restored after a death when it had %s: %d purchases", dies, n)
		}
		if kept, _ := filepath.Glob(target + ".before-*"); len(kept) == 0 || purchasesIn(t, kept[0]) != 2 {
			t.Errorf("what was there is not kept: %v", kept)
		}
	}
}

// purchasesIn counts the purchases in a SQLite file, and checks that the ledger in the file adds
// up.
func purchasesIn(t *testing.T, path string) int64 {
	t.Helper()
	d, err := db.Inspect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if wrongs, err := d.Faults(t.Context()); err != nil || len(wrongs) > 0 {
		t.Fatalf("%s: %v %v", path, wrongs, err)
	}
	r := report.New(d, clock.System{})
	heads, err := r.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range heads {
		if i, err := r.Integrity(t.Context(), h.Company); err != nil || !i.Intact() {
			t.Errorf("%s: %v %v", path, i.Wrongs, err)
		}
	}
	n, err := db.One(t.Context(), d, db.Value[int64], "SELECT count(*) FROM vtu_purchase")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A restore refuses a damaged file, and a file that is not a Kobo database.
func TestADamagedBackupIsNotRestored(t *testing.T) {
	t.Parallel()
	home := apptest.NewHome(t, db.SQLite)
	path, _ := db.SQLitePath(home.Database)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(sound)
	for i := 9 * 4096; i < 9*4096+512; i++ {
		damaged[i] ^= 0xff
	}
	for name, c := range map[string]struct {
		content []byte
		why     string
	}{
		"a text":            {[]byte("dear diary"), "file is not a database"},
		"nothing":           {nil, "it is not a Kobo database"},
		"half a file":       {sound[:len(sound)/2], "malformed"},
		"a damaged file":    {damaged, "malformed"},
		"another program's": {another(t, "CREATE TABLE notes (text TEXT)"), "it is not a Kobo database"},
		"a newer schema": {
			altered(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1); UPDATE db_schema SET serves = 9999"), "it is for a newer Kobo",
		},
		"a cooked book": {
			altered(t, path, "INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ('c', 5, 0)"), "the ledger does not add up",
		},
	} {
		file := filepath.Join(t.TempDir(), "backup")
		if err := os.WriteFile(file, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := app.Restore(t.Context(), app.Copying{Mode: app.Sandbox, Database: home.Database, File: file, By: tester, Signer: dbtest.Evidence})
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
		// The first 100 bytes of a SQLite file are its header, which depends on how the file was last
		// opened. So the test does not compare them.
		if now, err := os.ReadFile(path); err != nil || len(now) != len(sound) || !bytes.Equal(now[100:], sound[100:]) {
			t.Errorf("%s: the database was touched: %v", name, err)
		}
		if rest, _ := filepath.Glob(path + ".*"); len(rest) > 0 {
			t.Errorf("%s left %v", name, rest)
		}
	}
	for _, c := range []app.Copying{
		{Mode: app.Sandbox, Database: home.Database, File: path},
		{Mode: app.Sandbox, Database: home.Database, File: path + "-missing"},
		{Mode: app.Sandbox, Database: "postgres://x/y", File: path},
	} {
		if _, _, err := app.Restore(t.Context(), c); err == nil {
			t.Errorf("restored: %+v", c)
		}
		c.Overwrite = true
		if _, err := app.Backup(t.Context(), c); err == nil && c.File == path {
			t.Errorf("backed up onto itself: %+v", c)
		}
	}
}

// another creates a SQLite file that belongs to a different program, and returns the file's
// content. The function altered does the same for a Kobo database that an SQL statement has
// damaged.
func another(t *testing.T, statement string) []byte {
	t.Helper()
	return altered(t, "", statement)
}

func altered(t *testing.T, from, statement string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	if from != "" {
		if err := db.CopySQLite(t.Context(), from, path); err != nil {
			t.Fatal(err)
		}
	}
	d, err := db.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Exec(t.Context(), statement)
	d.Close()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
