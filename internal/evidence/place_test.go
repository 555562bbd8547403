package evidence_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operator"
)

// rewind deletes the last payment of acme with all its rows, and turns the counters back.
func (o *office) rewind(leaf int64) {
	o.t.Helper()
	o.exec(`DELETE FROM event WHERE company_id = 'acme' AND leaf > $1`, leaf)
	o.exec(`DELETE FROM ledger_transfer WHERE company_id = 'acme' AND leaf > $1`, leaf)
	o.exec(`UPDATE ledger_head SET leaf = $1 WHERE company_id = 'acme'`, leaf)
}

// remove deletes all rows of a company.
func (o *office) remove(company string) {
	o.t.Helper()
	for _, table := range []string{"event", "operator_audit", "ledger_account", "ledger_head", "evidence_checkpoint", "evidence_tree"} {
		o.exec(`DELETE FROM `+table+` WHERE company_id = $1`, company)
	}
}

// Each change of history behind the program's back is found: the rows, the tiles and the checkpoints
// contradict each other, or the second place contradicts them all.
func TestEachChangeOfHistoryIsFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(o *office)
		want   string // a part of a finding
		start  bool   // the start of a program finds it as well
		signs  bool   // the next round still signs
	}{
		{"an altered transfer", func(o *office) {
			o.exec(`UPDATE ledger_transfer SET amount_kobo = 501 WHERE company_id = 'acme' AND reference = 'p7'`)
		}, "acme: tree: row 14 was changed", false, true},
		{"an altered event after the whole tiles", func(o *office) {
			o.exec(`UPDATE event SET data = '{}' WHERE company_id = 'acme' AND leaf = 262`)
		}, "acme: tree: the first 262 rows do not have the root", false, false},
		{"an altered MAC", func(o *office) {
			o.exec(`UPDATE event SET mac = 'AAAAAAAAAAAAAAAAAAAAAA' WHERE company_id = 'acme' AND leaf = 3`)
		}, "acme: tree: row 3 was changed", false, true},
		{"a deleted transfer", func(o *office) {
			o.exec(`DELETE FROM ledger_transfer WHERE company_id = 'acme' AND reference = 'p1'`)
		}, "acme: tree: row 2 is missing", false, true},
		{"a deleted audit line", func(o *office) {
			o.exec(`DELETE FROM operator_audit WHERE company_id = 'acme'`)
		}, "acme: tree: row 1 is missing", false, true},
		{"an audit line of no company", func(o *office) {
			o.exec(`DELETE FROM operator_audit WHERE company_id = '' AND leaf = 1`)
		}, ": tree: row 1 is missing", false, true},
		{"a deleted tail", func(o *office) { o.rewind(260) }, "acme: tree: there are 260 rows, and the last checkpoint covers 262", false, false},
		{"a deleted tail with its checkpoints", func(o *office) {
			o.rewind(260)
			o.exec(`DELETE FROM evidence_checkpoint WHERE company_id = 'acme' AND size > 260`)
			o.exec(`DELETE FROM evidence_checkpoint WHERE company_id = 'deployment' AND size = 4`)
			o.exec(`DELETE FROM evidence_leaf WHERE leaf = 4`)
			o.exec(`UPDATE evidence_tree SET size = 257 WHERE company_id = 'acme'`)
			o.exec(`UPDATE evidence_tree SET size = 3 WHERE company_id = 'deployment'`)
		}, "this database was rolled back: it has 3 checkpoints", true, true},
		{"a changed checkpoint", func(o *office) {
			o.exec(`UPDATE evidence_checkpoint SET root = $1, note = replace(note, root, $1) WHERE company_id = 'acme' AND size = 262`, strings.Repeat("A", 43)+"=")
		}, "acme: tree: the first 262 rows do not have the root", false, false},
		{"a renamed checkpoint", func(o *office) {
			o.exec(`UPDATE evidence_checkpoint SET note = replace(note, 'acme', 'acne') WHERE company_id = 'acme' AND size = 262`)
		}, "acme: tree: checkpoint 262 was changed", false, true},
		{"a checkpoint without a signature", func(o *office) {
			o.exec(`UPDATE evidence_checkpoint SET note = substr(note, 1, length(note) - 5) WHERE company_id = 'acme' AND size = 262`)
		}, "acme: tree: checkpoint 262: the signature", false, true},
		{"a changed leaf of the deployment", func(o *office) {
			o.exec(`UPDATE evidence_leaf SET hash = $1 WHERE leaf = 2`, strings.Repeat("A", 43)+"=")
		}, "deployment: tree: the first 3 rows do not have the root", true, false},
		{"a changed tile", func(o *office) {
			o.exec(`UPDATE evidence_tile SET root = $1 WHERE company_id = 'acme'`, strings.Repeat("A", 43)+"=")
		}, "acme: tree: tile 0 is damaged", false, false},
		{"a deleted tile", func(o *office) { o.exec(`DELETE FROM evidence_tile WHERE company_id = 'acme'`) }, "acme: tree: tile 0 is missing", false, false},
		{"a row after the last", func(o *office) { o.exec(`UPDATE event SET leaf = 900 WHERE company_id = 'acme' AND leaf = 262`) }, "acme: tree: row 900 is after the last row, 263", false, false},
		{"a last number far up", func(o *office) { o.exec(`UPDATE ledger_head SET leaf = 4611686018427387904 WHERE company_id = 'acme'`) }, "acme: tree: row 264 is missing", false, false},
		{"a rolled back company", func(o *office) {
			o.rewind(260)
			o.exec(`DELETE FROM evidence_checkpoint WHERE company_id = 'acme' AND size > 260`)
			o.exec(`UPDATE evidence_tree SET size = 257 WHERE company_id = 'acme'`)
		}, "deployment: tree: row 4 has 0 checkpoints instead of one", true, true},
		{"a company removed whole", func(o *office) { o.remove("other") }, "deployment: tree: row 2 has 0 checkpoints instead of one", true, true},
		{"a company removed whole, and a forged checkpoint in its place", func(o *office) {
			o.remove("other")
			o.exec(`INSERT INTO evidence_checkpoint SELECT 'ghost', 1, root, note, 2, state, created_at FROM evidence_checkpoint WHERE company_id = 'acme' AND size = 257`)
		}, `deployment: tree: row 2 is not checkpoint 1 of "ghost"`, false, true},
		{"a second checkpoint of one leaf", func(o *office) {
			o.exec(`INSERT INTO evidence_checkpoint SELECT 'ghost', 1, root, note, 2, state, created_at FROM evidence_checkpoint WHERE company_id = 'other'`)
		}, "deployment: tree: row 2 has 2 checkpoints instead of one", false, true},
		{"a row recorded as erased", func(o *office) {
			o.exec(`INSERT INTO evidence_erased (company_id, leaf, hash, erased_at, mac) VALUES ('acme', 3, $1, 1, 'AAAAAAAAAAAAAAAAAAAAAA')`, strings.Repeat("A", 43)+"=")
		}, "acme: tree: row 3 is recorded as erased without the right MAC", false, true},
		{"a leaf after the last of the deployment", func(o *office) {
			o.exec(`INSERT INTO evidence_leaf (company_id, leaf, hash) VALUES ('deployment', 5, $1)`, strings.Repeat("A", 43)+"=")
		}, "deployment: tree: row 5 is after the last row, 4", true, false},
		{"a size of the deployment without a checkpoint", func(o *office) {
			o.exec(`DELETE FROM evidence_checkpoint WHERE company_id = 'deployment' AND size = 4`)
		}, "deployment: tree: there are 4 rows, and the last checkpoint covers 3", false, false},
		{"a number twice", func(o *office) { o.exec(`UPDATE event SET leaf = 3 WHERE company_id = 'acme' AND leaf = 5`) }, "acme: tree: two rows have the number 3", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, o *office) {
				must(t, operator.New(o.db, nil, o.clock).CloseAccess(t.Context(), operator.Local("ada"), "a line of no company"))
				o.pay("acme", 128)
				o.round()
				o.pay("acme", 2)
				o.round()
				if wrongs := o.found(); len(wrongs) > 0 {
					t.Fatal(wrongs)
				}
				o.clock.Advance(time.Minute)
				c.change(o)
				if wrongs := o.found(); !slices.ContainsFunc(wrongs, func(w string) bool { return strings.Contains(w, c.want) }) {
					t.Errorf("kobo verify says %q", wrongs)
				}
				must(t, o.Begin(t.Context()))
				if closed := len(o.why) > 0; closed != c.start {
					t.Errorf("the start closes API access: %q", o.why)
				}
				if must(t, o.Begin(t.Context())); len(o.why) > 1 {
					t.Errorf("the next start closes API access again: %q", o.why)
				}
				before := len(o.heads("acme"))
				o.pay("acme", 2)
				o.clock.Advance(time.Hour)
				_, err := o.Sign(t.Context(), job.Job{})
				if signs := len(o.heads("acme")) > before; signs != c.signs || !signs && !c.start && !strings.Contains(o.log.String(), "run kobo verify") {
					t.Errorf("the next round signs: %v %v\n%s", signs, err, o.log.String())
				}
			})
		})
	}
}

// A start on a database that does not continue the second place closes API access once, and says why.
func TestAStartComparesTheSecondPlace(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		folder := o.Folder
		o.start("")
		must(t, o.Begin(t.Context()))
		if o.log.Len() > 0 || len(o.why) > 0 {
			t.Errorf("%q %s", o.why, o.log.String())
		}
		o.start(folder)
		must(t, o.Begin(t.Context())) // an empty folder
		o.pay("acme", 1)
		o.round()
		must(t, o.Begin(t.Context()))
		if len(o.why) > 0 {
			t.Fatalf("%q", o.why)
		}
		files := o.files
		for _, c := range []struct {
			name   string
			change func()
			want   string
		}{
			{"of a different key", func() { o.ring = "other:" + strings.Repeat("B", 42) + "A\n"; o.start(folder) }, "is not a checkpoint of this database that one of its evidence keys signed"},
			{"damaged", func() { must(t, os.WriteFile(files()[len(files())-1], []byte("x"), 0o600)) }, "is not a checkpoint of this database"},
			{"a rolled back database", func() {
				for _, table := range []string{"checkpoint", "leaf", "tree"} {
					_, err := o.db.Exec(t.Context(), "DELETE FROM evidence_"+table)
					must(t, err)
				}
			}, "this database was rolled back: it has 0 checkpoints"},
			{"a different database", func() {
				for _, path := range files() {
					must(t, os.Rename(path, strings.Replace(path, name, "another", 1)))
				}
			}, "are of another database"},
		} {
			o.why = nil
			o.clock.Advance(time.Minute)
			c.change()
			count := len(files())
			must(t, o.Begin(t.Context()))
			if len(o.why) != 1 || !strings.Contains(o.why[0], c.want) || !strings.Contains(o.why[0], "docs/operating/evidence.md") || len(files()) != count+1 {
				t.Errorf("%s: %q", c.name, o.why)
			}
			must(t, o.Begin(t.Context()))
			if len(o.why) != 1 {
				t.Errorf("%s: closed again: %q", c.name, o.why)
			}
		}
	})
}

// Only rows below whole tiles and a checkpoint may be removed. Their receipts and later checkpoints
// still agree, and kobo verify knows how many events were removed.
func TestRemovedEventsKeepTheirPlace(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		covered := func(want int64) {
			t.Helper()
			if n, err := o.Covered(t.Context(), "acme"); err != nil || n != want {
				t.Errorf("%d rows are covered, want %d: %v", n, want, err)
			}
		}
		o.pay("acme", 127)
		o.round()
		covered(0)
		o.pay("acme", 10)
		o.round()
		covered(256)
		o.exec(`DELETE FROM event WHERE company_id = 'acme' AND sequence <= 100`)
		o.pay("acme", 10)
		o.round()
		key, _ := o.public()
		r, err := o.Receipt(t.Context(), "acme", "p50", nil)
		must(t, err)
		if _, err := r.Verify(key); err != nil {
			t.Error(err)
		}
		for removed, want := range map[int64]string{100: "", 99: "100 rows are missing, and 99 events", 101: "101 events"} {
			wrongs, err := o.Verify(t.Context(), o.db, "acme", removed, tallied(t, o.db, "acme"))
			if text := strings.Join(wrongs, ";"); err != nil || (text == "") != (want == "") || !strings.Contains(text, want) {
				t.Errorf("%d: %q %v", removed, text, err)
			}
		}
	})
}

// A tree with more new rows than a request may read grows with each repetition of the request.
func TestALongTreeGrowsInSteps(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		evidence.LimitTiles(o.Service, 1)
		o.pay("acme", 300)
		for _, want := range []fault.Kind{fault.Unavailable, ""} {
			_, err := o.Receipt(t.Context(), "acme", "p300", nil)
			if want != "" && !fault.Is(err, want) || want == "" && err != nil {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}

// A restore explains the files that cover what it has undone, also when the new history has outgrown them. The file
// that Kobo writes when it closes API access is the newest one, also if the clock was set back meanwhile.
func TestARestoreExplainsNewerFiles(t *testing.T) {
	for name, jump := range map[string]time.Duration{"": 0, "after the clock was set back": -6 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, o *office) {
				o.pay("acme", 128)
				o.round()
				kept, err := db.One(t.Context(), o.db, db.Value[int64], `SELECT size FROM evidence_tree WHERE company_id = 'deployment'`)
				must(t, err)
				o.pay("acme", 2)
				o.round()
				o.clock.Jump(jump)
				o.rewind(257)
				o.exec(`DELETE FROM evidence_checkpoint WHERE company_id = 'acme' AND size > 257`)
				o.exec(`DELETE FROM evidence_checkpoint WHERE company_id = 'deployment' AND size > $1`, kept)
				o.exec(`DELETE FROM evidence_leaf WHERE leaf > $1`, kept)
				o.exec(`UPDATE evidence_tree SET size = 257 WHERE company_id = 'acme'`)
				o.exec(`UPDATE evidence_tree SET size = $1 WHERE company_id = 'deployment'`, kept)
				if wrongs, explained, err := o.VerifyPlace(t.Context(), o.db); err != nil || len(wrongs) != 1 || len(explained) > 0 {
					t.Fatalf("before the next start: %q %q %v", wrongs, explained, err)
				}
				must(t, o.Begin(t.Context()))
				for range 3 {
					wrongs, explained, err := o.VerifyPlace(t.Context(), o.db)
					if err != nil || len(wrongs) > 0 || len(explained) != 1 || !strings.Contains(explained[0], "a restore has undone") {
						t.Errorf("%q %q %v", wrongs, explained, err)
					}
					if must(t, o.Begin(t.Context())); len(o.why) != 1 {
						t.Errorf("closed for %q", o.why)
					}
					o.pay("acme", 2)
					o.round()
				}
				o.exec(`UPDATE evidence_leaf SET hash = $1 WHERE leaf = 1`, strings.Repeat("A", 43)+"=")
				if wrongs, _, err := o.VerifyPlace(t.Context(), o.db); err != nil || len(wrongs) < 2 {
					t.Errorf("an altered leaf: %q %v", wrongs, err)
				}
			})
		})
	}
}
