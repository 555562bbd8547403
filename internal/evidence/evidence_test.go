package evidence_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// office is a deployment with two companies.
type office struct {
	*evidence.Service
	t     *testing.T
	db    *db.DB
	book  *ledger.Book
	clock *clock.Manual
	log   bytes.Buffer
	ring  string
	why   []string // the reasons with which API access was closed
	n     int
}

const name = "0198c0de"

func each(t *testing.T, f func(t *testing.T, o *office)) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		o := &office{t: t, db: d, clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 6_000, time.UTC)), ring: secret.Generate()}
		o.book = ledger.New(d, o.clock)
		o.start(t.TempDir())
		for _, company := range []string{"acme", "other"} {
			u := ledger.Found(company)
			u.OpenAccounts(ledger.Account{ID: "out", Floor: money.NoFloor}, ledger.Account{ID: "in"}, ledger.Account{ID: "charge/x"})
			operator.Local("ada").Audit(&u, "company.create", company, nil, o.clock.Now())
			must(t, o.book.Commit(t.Context(), u))
		}
		f(t, o)
	})
}

// start starts a program with a second place.
func (o *office) start(folder string) {
	o.t.Helper()
	ring, err := secret.Parse(o.ring)
	must(o.t, err)
	o.Service = evidence.New(evidence.Config{
		DB: o.db, Book: o.book, Events: event.NewService(o.db, o.book), Clock: o.clock, Log: slog.New(slog.NewTextHandler(&o.log, nil)),
		Keys: ring.CheckpointKeys(), Name: func(context.Context) (string, error) { return name, nil }, Folder: folder,
		Close:  func(_ context.Context, _ db.Querier, reason string) error { o.why = append(o.why, reason); return nil },
		Hidden: func(account string) bool { return strings.HasPrefix(account, "charge/") },
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pay books transfers of the references p1, p2, p3 …, each with an event.
func (o *office) pay(company string, count int) {
	o.t.Helper()
	for range count {
		o.n++
		u := ledger.For(company)
		u.Transfer(ledger.Transfer{Reference: fmt.Sprint("p", o.n), Debit: "out", Credit: "in", Amount: 500})
		event.Emit(&u, "payout.pending", map[string]string{"reference": fmt.Sprint("p", o.n)})
		must(o.t, o.book.Commit(o.t.Context(), u))
	}
}

// round makes the hourly checkpoints, an hour later.
func (o *office) round() {
	o.t.Helper()
	o.clock.Advance(time.Hour)
	next, err := o.Sign(o.t.Context(), job.Job{})
	must(o.t, err)
	if want := o.clock.Now().Add(time.Hour); !next.Equal(want) {
		o.t.Errorf("the next round is at %s, want %s", next, want)
	}
}

// exec changes the database behind the program's back.
func (o *office) exec(query string, args ...any) {
	o.t.Helper()
	n, err := o.db.Exec(o.t.Context(), query, args...)
	if err != nil || n == 0 {
		o.t.Fatalf("%s changed %d rows: %v", query, n, err)
	}
}

// heads returns the sizes of a company's checkpoints, newest first.
func (o *office) heads(company string) (sizes []int64) {
	o.t.Helper()
	list, total, err := o.Checkpoints(o.t.Context(), company, 0, 1000)
	if err != nil || total != len(list) {
		o.t.Fatalf("%d of %d checkpoints: %v", len(list), total, err)
	}
	for _, c := range list {
		sizes = append(sizes, c.Size)
	}
	return sizes
}

// found returns all that kobo verify finds about the trees.
func (o *office) found() (all []string) {
	o.t.Helper()
	for _, company := range []string{"", "acme", "other", evidence.Deployment} {
		wrongs, err := o.Verify(o.t.Context(), o.db, company, 0, nil)
		must(o.t, err)
		if again, err := o.Verify(o.t.Context(), o.db, company, 0, tallied(o.t, o.db, company)); err != nil || !slices.Equal(again, wrongs) {
			o.t.Errorf("with a tally: %q %v, without: %q", again, err, wrongs)
		}
		all = append(all, wrongs...)
	}
	wrongs, _, err := o.VerifyPlace(o.t.Context(), o.db)
	must(o.t, err)
	return append(all, wrongs...)
}

// tallied adds all rows of a company to a Tally, as a pass over the tables does.
func tallied(t testing.TB, d *db.DB, company string) *evidence.Tally {
	t.Helper()
	last, err := ledger.Leaves(t.Context(), d, company)
	if err != nil {
		t.Fatal(err)
	}
	tally := evidence.NewTally(last)
	for _, table := range db.EvidenceTables() {
		err := db.Leaves(db.WithLongTimeout(t.Context()), d, table, company, 0, 1<<40, func(leaf int64, row []string) error {
			tally.Add(leaf, row[len(row)-1], db.Content(nil, table, row))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return tally
}

func (o *office) public() (string, ed25519.PublicKey) {
	o.t.Helper()
	keys, err := o.VerifierKeys(o.t.Context())
	must(o.t, err)
	key, err := evidence.PublicKey(keys[0])
	must(o.t, err)
	return keys[0], key
}

// Each company with new rows gets a checkpoint and an event about it. The event alone is no reason for
// a further checkpoint.
func TestARoundSignsWhatIsNew(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 3)
		o.round()
		o.round()
		o.round()
		if got := fmt.Sprint(o.heads("acme"), o.heads("other"), o.heads(evidence.Deployment)); got != "[7] [1] [2]" {
			t.Errorf("the sizes are %s", got)
		}
		o.pay("acme", 1)
		o.round()
		if got := fmt.Sprint(o.heads("acme"), o.heads("other"), o.heads(evidence.Deployment)); got != "[10 7] [1] [3 2]" {
			t.Errorf("the sizes are %s", got)
		}
		events, _, err := event.NewService(o.db, o.book).Feed(t.Context(), "acme", 3, 10, 0)
		var data evidence.Signed
		if err != nil || len(events) != 3 || events[0].Kind != "checkpoint.signed" || json.Unmarshal(events[0].Data, &data) != nil {
			t.Fatalf("%+v %v", events, err)
		}
		_, key := o.public()
		if origin, size, root, err := noted(data.Checkpoint, "kobo/"+name, key); err != nil || origin != "kobo/"+name+"/acme" ||
			int64(size) != data.Size || base64.StdEncoding.EncodeToString(root) != data.Root {
			t.Errorf("%q %d %x %v", origin, size, root, err)
		}
		if wrongs := o.found(); len(wrongs) > 0 {
			t.Error(wrongs)
		}
		files, err := filepath.Glob(filepath.Join(o.Folder, "*"))
		if err != nil || len(files) != 2 || !strings.HasSuffix(files[1], name+"-20300102T070405.000006Z-000000000003.checkpoint") {
			t.Errorf("the second place has %q %v", files, err)
		}
	})
}

// A crash between a checkpoint and its event delays the event until the next round.
func TestACompanyIsToldLater(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.round()
		o.exec(`UPDATE evidence_checkpoint SET state = 'SIGNED' WHERE company_id = 'acme'`)
		o.round()
		events, _, err := event.NewService(o.db, o.book).Feed(t.Context(), "acme", 0, 10, 0)
		if err != nil || len(events) != 2 || string(events[0].Data) != string(events[1].Data) {
			t.Errorf("%+v %v", events, err)
		}
	})
}

// A verifier that was written from the RFC accepts receipts of transfers and of events, from the first
// row of the tree to a row that is newer than the last checkpoint.
func TestReceiptsAreThoseOfTheRFC(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 140)
		o.round()
		o.clock.Advance(time.Second)
		o.pay("acme", 2)
		feed, _, err := event.NewService(o.db, o.book).Feed(t.Context(), "acme", 0, 1, 0)
		must(t, err)
		text, key := o.public()
		for _, reference := range []string{"p1", feed[0].ID, "p100", "p140", "p142"} {
			r, err := o.Receipt(t.Context(), "acme", reference, nil)
			must(t, err)
			st, err := r.Verify(text)
			if err != nil || !strings.Contains(fmt.Sprint(st.Row), reference) || st.Company != "acme" || st.Leaf != r.Index+1 {
				t.Errorf("%s: %+v %v", reference, st, err)
			}
			origin, size, root, err := noted(r.Checkpoint, "kobo/"+name, key)
			content := unbase(t, r.Leaf.Content)[0]
			if err != nil || origin != "kobo/"+name+"/acme" || !bytes.Contains(content, []byte(reference)) ||
				!isIncluded(uint64(r.Index), size, leafOf(append([]byte(r.Leaf.Salt), content...)), unbase(t, r.Proof...), root) {
				t.Errorf("%s is not proven: %v", reference, err)
			}
			body, _, _ := strings.Cut(r.Checkpoint, "\n\n")
			origin, size, root, err = noted(r.Deployment.Checkpoint, "kobo/"+name, key)
			if err != nil || origin != "kobo/"+name ||
				!isIncluded(uint64(r.Deployment.Index), size, leafOf([]byte(body+"\n")), unbase(t, r.Deployment.Proof...), root) {
				t.Errorf("the checkpoint of %s is not in the deployment's tree: %v", reference, err)
			}
		}
		proof, err := o.Consistency(t.Context(), "acme", 281, 0)
		if err != nil || proof.To.Size != 286 || !isPrefix(281, 286, unbase(t, proof.Proof...), unbase(t, proof.From.Root)[0], unbase(t, proof.To.Root)[0]) {
			t.Errorf("%+v %v", proof, err)
		}
		if _, err := o.Consistency(t.Context(), "acme", 280, 0); !fault.Is(err, fault.Missing) {
			t.Errorf("from no checkpoint: %v", err)
		}
		if _, err := o.Consistency(t.Context(), "acme", 286, 281); !fault.Is(err, fault.Invalid) {
			t.Errorf("backwards: %v", err)
		}
	})
}

func unbase(t *testing.T, texts ...string) (out [][]byte) {
	t.Helper()
	for _, text := range texts {
		b, err := base64.StdEncoding.Strict().DecodeString(text)
		must(t, err)
		out = append(out, b)
	}
	return out
}

// No bit of a receipt can be flipped: the receipt is refused, or says the same.
func TestEachFlippedBitIsRefused(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("other", 1)
		o.pay("acme", 5)
		o.round()
		r, err := o.Receipt(t.Context(), "acme", "p4", nil)
		must(t, err)
		key, _ := o.public()
		whole, err := json.Marshal(r)
		must(t, err)
		refused := 0
		for i := range whole {
			for bit := range 8 {
				text := bytes.Clone(whole)
				text[i] ^= 1 << bit
				var other evidence.Receipt
				if json.Unmarshal(text, &other) != nil {
					refused++
				} else if _, err := other.Verify(key); err != nil {
					refused++
				} else if !reflect.DeepEqual(other, r) {
					t.Fatalf("byte %d, bit %d: a changed receipt is accepted:\n%s", i, bit, text)
				}
			}
		}
		if refused < len(whole)*6 {
			t.Errorf("only %d of %d bits were refused", refused, len(whole)*8)
		}
		if _, err := r.Verify(strings.Replace(key, name, "other", 1)); err == nil {
			t.Error("the key of another name is accepted")
		}
	})
}

// A company gets receipts of its own transfers and events only. It gets none of audit lines, and none
// of accounts that it does not see.
func TestACompanyGetsItsOwnReceiptsOnly(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("other", 1)
		u := ledger.For("acme")
		u.Transfer(ledger.Transfer{Reference: "r", Debit: "out", Credit: "in", Amount: 5},
			ledger.Transfer{Reference: "r", Step: "settle", Debit: "in", Credit: "out", Amount: 5},
			ledger.Transfer{Reference: "r", Step: "charge", Debit: "out", Credit: "charge/x", Amount: 1})
		must(t, o.book.Commit(t.Context(), u))
		lines, _, err := operator.New(o.db, nil, o.clock).Audit(t.Context(), "acme", 1, 0)
		must(t, err)
		feed, _, err := event.NewService(o.db, o.book).Feed(t.Context(), "other", 0, 1, 0)
		must(t, err)
		settle, charge := "settle", "charge"
		for _, c := range []struct {
			reference string
			step      *string
		}{{"p1", nil}, {feed[0].ID, nil}, {lines[0].ID, nil}, {"r", &charge}, {"none", nil}, {"", nil}} {
			if r, err := o.Receipt(t.Context(), "acme", c.reference, c.step); !fault.Is(err, fault.Missing) {
				t.Errorf("%s: %+v %v", c.reference, r, err)
			}
		}
		for step, want := range map[*string]int64{nil: 1, &settle: 2} {
			if r, err := o.Receipt(t.Context(), "acme", "r", step); err != nil || r.Index != want {
				t.Errorf("%d %v", r.Index, err)
			}
		}
	})
}

// Checkpoints on demand are made at most once a second.
func TestCheckpointsOnDemandHaveALimit(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 2)
		_, err := o.Receipt(t.Context(), "acme", "p2", nil)
		must(t, err)
		_, err = o.Receipt(t.Context(), "acme", "p1", nil)
		must(t, err)
		o.pay("acme", 1)
		if _, err := o.Receipt(t.Context(), "acme", "p3", nil); !fault.Is(err, fault.Limited) {
			t.Errorf("%v", err)
		}
		o.clock.Advance(time.Second)
		_, err = o.Receipt(t.Context(), "acme", "p3", nil)
		must(t, err)
		o.clock.Jump(-240 * time.Hour) // the clock was ahead
		o.pay("acme", 1)
		_, err = o.Receipt(t.Context(), "acme", "p4", nil)
		must(t, err)
	})
}

// A pinned key verifies the checkpoints after a new key has come first. The new key verifies them too.
func TestAPinnedKeySurvivesARotation(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 1)
		pinned, _ := o.public()
		o.ring = secret.Generate() + o.ring
		o.start(o.Folder)
		r, err := o.Receipt(t.Context(), "acme", "p1", nil)
		must(t, err)
		present, _ := o.public()
		for _, key := range []string{pinned, present} {
			if _, err := r.Verify(key); err != nil || pinned == present {
				t.Error(err)
			}
		}
		o.ring = secret.Generate()
		o.start(o.Folder)
		if other, _ := o.public(); other != "" {
			if _, err := r.Verify(other); err == nil {
				t.Error("a key that did not sign verifies")
			}
		}
	})
}

// A receipt of a row that was covered before a rotation verifies with the old key and with the new one.
func TestAReceiptFromBeforeARotationHasBothSignatures(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 2)
		o.round()
		pinned, _ := o.public()
		o.ring = secret.Generate() + o.ring
		o.start(o.Folder)
		present, _ := o.public()
		r, err := o.Receipt(t.Context(), "acme", "p1", nil)
		must(t, err)
		for _, key := range []string{pinned, present} {
			if _, err := r.Verify(key); err != nil || pinned == present {
				t.Error(err)
			}
		}
	})
}

// After a person was erased from a row, the other receipts stay valid, and that of the row says so.
func TestAnErasedRowKeepsItsPlace(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 2)
		o.round()
		events, _, err := event.NewService(o.db, o.book).Feed(t.Context(), "acme", 0, 1, 0)
		must(t, err)
		row, err := o.Erasing(t.Context(), "acme", events[0].Leaf)
		must(t, err)
		must(t, o.db.Insert(t.Context(), row))
		o.exec(`UPDATE event SET data = '{}', mac = '' WHERE company_id = 'acme' AND sequence = 1`)
		key, _ := o.public()
		for reference, gone := range map[string]bool{events[0].ID: true, "p2": false} {
			r, err := o.Receipt(t.Context(), "acme", reference, nil)
			must(t, err)
			st, err := r.Verify(key)
			if err != nil || r.Leaf.Erased != gone || (st.Row == nil) != gone {
				t.Errorf("%s: %+v %+v %v", reference, r.Leaf, st, err)
			}
		}
		if wrongs := o.found(); len(wrongs) > 0 {
			t.Error(wrongs)
		}
		o.pay("acme", 200)
		o.round()
		if wrongs := o.found(); len(wrongs) > 0 || strings.Contains(o.log.String(), "changed") {
			t.Error(wrongs, o.log.String())
		}
	})
}
