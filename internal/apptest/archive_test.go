package apptest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/archive"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

const month = 31 * 24 * time.Hour

// archivist returns the service that archives the events of a program.
func archivist(p *apptest.Program, folder string) *archive.Service {
	return &archive.Service{DB: p.App.DB, Events: p.App.Events, Webhooks: p.App.Webhooks, Clock: p.App.Clock, Folder: folder}
}

// filedEvents returns the events in the files of the company, in the order of the files' names.
func filedEvents(t *testing.T, p *apptest.Program, folder string) (list []json.RawMessage) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, p.Reference, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || !strings.HasSuffix(name, ".jsonl") {
			t.Fatalf("%s: %v", name, err)
		}
		for one := range bytes.Lines(text) {
			var l struct{ Event json.RawMessage }
			if err := json.Unmarshal(one, &l); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			list = append(list, l.Event)
		}
	}
	return list
}

// feed returns the events of the feed after a number, as the API shows them. If they are archived,
// it returns the number of the first event that is kept.
func feed(t *testing.T, p *apptest.Program, after int64) (list []json.RawMessage, first int64) {
	t.Helper()
	var said struct {
		FirstSequence int64
		Data          struct{ Data []json.RawMessage }
	}
	a := p.Do(http.MethodGet, fmt.Sprintf("/api/v1/events?limit=1000&after=%d", after), nil)
	a.Into(t, &said)
	if a.Status != http.StatusOK && (a.Status != http.StatusGone || said.FirstSequence <= after+1) {
		t.Fatalf("the feed: %s", a)
	}
	return said.Data.Data, said.FirstSequence
}

// aYearOfSales makes purchases in five months, and returns the whole feed.
func aYearOfSales(t *testing.T, p *apptest.Program) []json.RawMessage {
	t.Helper()
	bundle := p.Bundle()
	for i := range 5 {
		for j := range 2 {
			p.Bought(p.Buy(p.Order(bundle, fmt.Sprintf("order %d %d", i, j), "10")))
		}
		p.Advance(month)
	}
	p.Bought(p.Buy(p.Order(bundle, "the last order", "10")))
	all, _ := feed(t, p, 0)
	return all
}

// Events of old months move into files, and no event is lost or doubled, wherever the archiving is
// interrupted. The feed then reports the first event that is kept, and the ledger stays sound.
func TestArchivedEventsAreInFiles(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p, folder := apptest.Start(t, dialect), t.TempDir()
		all := aYearOfSales(t, p)
		interrupted := errors.New("interrupted")
		for allowed := 1; ; allowed++ {
			s, left := archivist(p, folder), allowed
			s.Step = func(string) error {
				if left--; left < 0 {
					return interrupted
				}
				return nil
			}
			held, err := s.Run(t.Context(), 3, func(archive.Month) {})
			if err != nil && !errors.Is(err, interrupted) || len(held) > 0 {
				t.Fatalf("%v, held %v", err, held)
			}
			p.Sound(t)
			_, first := feed(t, p, 0)
			if first > 0 {
				if kept, _ := feed(t, p, first-1); len(kept) != len(all)-int(first)+1 {
					t.Fatalf("%d of %d events are kept, the first is %d", len(kept), len(all), first)
				}
				if filed := filedEvents(t, p, folder); len(filed) < int(first)-1 {
					t.Fatalf("%d events are in files, and the first that is kept is %d", len(filed), first)
				}
			}
			if err == nil {
				break
			}
			if allowed > 100 {
				t.Fatal("the archiving never ends")
			}
		}
		_, first := feed(t, p, 0)
		filed := filedEvents(t, p, folder)
		kept, _ := feed(t, p, first-1)
		if first < 5 || len(filed) != int(first)-1 {
			t.Errorf("%d events are in files, and the first that is kept is %d", len(filed), first)
		}
		if got := slices.Concat(filed, kept); !slices.EqualFunc(got, all, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Errorf("the files and the feed contain\n%s\nand the feed contained\n%s", got, all)
		}
		hook := p.Do(http.MethodPost, "/api/v1/webhooks", map[string]string{"url": "http://127.0.0.1:9/late"}).Want(t, http.StatusOK)
		var made struct{ Data struct{ ID string } }
		hook.Into(t, &made)
		p.Do(http.MethodPost, "/api/v1/webhooks/"+made.Data.ID+"/replay", map[string]int64{"from": 1, "to": 9}).Want(t, http.StatusGone)
		p.Do(http.MethodPost, "/api/v1/webhooks/"+made.Data.ID+"/replay", map[string]int64{"from": first, "to": first}).Want(t, http.StatusOK)
		// A second run finds nothing to do.
		if _, err := archivist(p, folder).Run(t.Context(), 3, func(m archive.Month) { t.Errorf("moved %+v again", m) }); err != nil {
			t.Error(err)
		}
	})
}

// An event stays while a webhook has not received it, also if the webhook is paused.
func TestEventsOfAWaitingWebhookAreNotArchived(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p, folder := apptest.Start(t, dialect), t.TempDir()
		var made struct{ Data struct{ ID string } }
		p.Do(http.MethodPost, "/api/v1/webhooks", map[string]string{"url": "http://127.0.0.1:9/paused"}).Want(t, http.StatusOK).Into(t, &made)
		p.Do(http.MethodPost, "/api/v1/webhooks/"+made.Data.ID, map[string]bool{"active": false}).Want(t, http.StatusOK)
		all := aYearOfSales(t, p)
		held, err := archivist(p, folder).Run(t.Context(), 3, func(m archive.Month) {
			if m.Company == p.Reference {
				t.Errorf("moved %+v", m)
			}
		})
		if kept, first := feed(t, p, 0); err != nil || len(held) != 1 || held[0].Company != p.Reference || first > 0 || len(kept) != len(all) {
			t.Errorf("%v, held %v, the first is %d", err, held, first)
		}
		p.Do(http.MethodDelete, "/api/v1/webhooks/"+made.Data.ID, nil).Want(t, http.StatusOK)
		if held, err = archivist(p, folder).Run(t.Context(), 3, func(archive.Month) {}); err != nil || len(held) > 0 {
			t.Errorf("%v, held %v", err, held)
		}
		if _, first := feed(t, p, 0); first == 0 {
			t.Error("no event was moved")
		}
	})
}

// A company asks for a replay while its events are archived. Kobo has accepted the replay, so its events stay until the webhook has
// them. A later run accepts the file that is there, and moves the month.
func TestAReplayDuringTheArchivingKeepsItsEvents(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		all, folder := aYearOfSales(t, p), t.TempDir()
		for _, at := range []string{"drafted", "checked", "recorded"} {
			var made struct{ Data struct{ ID string } }
			p.Do(http.MethodPost, "/api/v1/webhooks", map[string]string{"url": "http://127.0.0.1:9/late"}).Want(t, http.StatusOK).Into(t, &made)
			s, asked := archivist(p, folder), false
			s.Step = func(what string) error {
				if files, err := filepath.Glob(filepath.Join(folder, p.Reference, "*")); what == at && !asked && err == nil && len(files) > 0 {
					asked = true
					p.Do(http.MethodPost, "/api/v1/webhooks/"+made.Data.ID+"/replay", map[string]int64{"from": 2, "to": 3}).Want(t, http.StatusOK)
				}
				return nil
			}
			held, err := s.Run(t.Context(), 3, func(m archive.Month) {
				if m.Company == p.Reference {
					t.Errorf("a replay when it was %s: moved %+v", at, m)
				}
			})
			if kept, first := feed(t, p, 0); err != nil || !asked || len(held) != 1 || held[0].Company != p.Reference || held[0].Sequence != 2 || first > 0 || len(kept) != len(all) {
				t.Fatalf("a replay when it was %s: %v, held %+v, the first is %d", at, err, held, first)
			}
			p.Do(http.MethodDelete, "/api/v1/webhooks/"+made.Data.ID, nil).Want(t, http.StatusOK)
		}
		if held, err := archivist(p, folder).Run(t.Context(), 3, func(archive.Month) {}); err != nil || len(held) > 0 {
			t.Errorf("%v, held %+v", err, held)
		}
		_, first := feed(t, p, 0)
		if kept, _ := feed(t, p, first-1); first < 5 || len(filedEvents(t, p, folder))+len(kept) != len(all) {
			t.Errorf("%d events in files, and the first that is kept is %d", len(filedEvents(t, p, folder)), first)
		}
		p.Sound(t)
	})
}

// Nothing is removed if a file is not the one that was written, and no file is overwritten.
func TestAChangedArchiveRemovesNothing(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p, folder := apptest.Start(t, dialect), t.TempDir()
		all := aYearOfSales(t, p)
		var files []string
		for _, at := range []string{"named", "recorded"} {
			s := archivist(p, folder)
			s.Step = func(what string) error {
				if files, _ = filepath.Glob(filepath.Join(folder, p.Reference, "*.jsonl")); what == at && len(files) > 0 {
					return errors.New("interrupted")
				}
				return nil
			}
			if _, err := s.Run(t.Context(), 3, func(archive.Month) {}); err == nil || len(files) != 1 {
				t.Fatalf("%v, %v", files, err)
			}
			right, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			lines := slices.Collect(bytes.Lines(right))
			for name, wrong := range map[string][]byte{
				"a changed event":  bytes.Replace(right, []byte("vtu."), []byte("vtv."), 1),
				"a lost line":      bytes.Join(slices.Delete(slices.Clone(lines), 1, 2), nil),
				"a lost last line": bytes.Join(lines[:len(lines)-1], nil),
				"a cut last line":  right[:len(right)-3],
				"nothing":          nil,
			} {
				if err := os.WriteFile(files[0], wrong, 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := archivist(p, folder).Run(t.Context(), 3, func(archive.Month) {}); err == nil {
					t.Errorf("%s at %s: archived", name, at)
				}
				if is, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(is, wrong) {
					t.Errorf("%s at %s: the file was overwritten, %v", name, at, err)
				}
				if kept, first := feed(t, p, 0); first > 0 || len(kept) != len(all) {
					t.Fatalf("%s at %s: the first is %d", name, at, first)
				}
			}
			if err := os.WriteFile(files[0], right, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := archivist(p, folder).Run(t.Context(), 3, func(archive.Month) {}); err != nil {
			t.Error(err)
		}
	})
}

// A month stays until the tree of the company has the hashes of all its events in whole tiles.
func TestEventsAboveTheWholeTilesAreNotArchived(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p, folder := apptest.Start(t, dialect), t.TempDir()
		aYearOfSales(t, p)
		last, err := ledger.Leaves(t.Context(), p.App.DB, p.Reference)
		if err != nil {
			t.Fatal(err)
		}
		for _, covered := range []int64{0, 10, last} {
			s := archivist(p, folder)
			s.Covered = func(_ context.Context, company string) (int64, error) {
				if company != p.Reference {
					return 1 << 40, nil
				}
				return covered, nil
			}
			moved := 0
			held, err := s.Run(t.Context(), 3, func(m archive.Month) {
				if m.Company == p.Reference {
					moved++
				}
			})
			if err != nil || (covered < last) != (len(held) == 1 && held[0].Uncovered && moved == 0) || covered == last && (len(held) > 0 || moved == 0) {
				t.Errorf("%d covered: %d months moved, held %+v, %v", covered, moved, held, err)
			}
		}
	})
}
