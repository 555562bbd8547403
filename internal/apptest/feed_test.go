package apptest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// Eight buyers use two programs, which are killed at random moments. Meanwhile a reader follows the
// event feed. The events are numbered 1 … n without a gap, in the order of their commits. So the
// reader never misses an event that is added later with a lower number. The times of the events
// never decrease. Each operation whose order got a response has its events.
func TestTheFeedHasNoGapAfterKills(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		chance := rand.New(rand.NewPCG(seed(t), 1))
		home := apptest.NewHome(t, dialect)
		var keys ledgerOfKeys
		var f follower
		var read sync.WaitGroup
		defer read.Wait()
		reading, stop := context.WithCancel(t.Context())
		defer stop()
		read.Go(func() { f.follow(reading, t) })
		for round := range 4 {
			children := []*apptest.Child{home.Spawn(t, apptest.Never, time.Second), home.Spawn(t, apptest.Never, time.Second)}
			bundle := children[0].Bundle()
			f.at.Store(children[chance.IntN(2)].Client)
			var buyers sync.WaitGroup
			for buyer := range 8 {
				own := rand.New(rand.NewPCG(chance.Uint64(), uint64(buyer)))
				buyers.Go(func() { keys.shop(children[buyer%2].Client, bundle, own, fmt.Sprintf("%d-%d", round, buyer)) })
			}
			for _, child := range children {
				fuse := time.NewTimer(time.Duration(100+chance.IntN(500)) * time.Millisecond)
				<-fuse.C
				child.Kill()
			}
			buyers.Wait()
		}
		p := home.Start(t, apptest.Window(time.Second))
		f.at.Store(p.Client)
		for range 5 {
			p.Advance(15 * time.Minute) // the killed programs' leases expire, and their open operations end
		}
		resolved(t, p.Client)
		feed := p.Events(0)
		dense(t, feed)
		apptest.Eventually(t, func() string {
			if n := f.count.Load(); n != int64(len(feed)) {
				return fmt.Sprintf("the follower has read %d of %d events", n, len(feed))
			}
			return ""
		})
		stop()
		read.Wait()
		f.check(t, feed)
		keys.told(t, feed)
	})
}

// dense checks that the events of a company's whole feed are numbered without a gap, in commit
// order.
func dense(t *testing.T, feed []apptest.Event) {
	t.Helper()
	last := time.Time{}
	for i, e := range feed {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, e.Sequence)
		}
		if e.CreatedAt.Before(last) {
			t.Errorf("event %d is of %s, and the one before it of %s", e.Sequence, e.CreatedAt, last)
		}
		last = e.CreatedAt
	}
}

// follower reads the feed from its beginning. It may use any running program.
type follower struct {
	at    atomic.Pointer[apptest.Client]
	seen  []apptest.Event
	count atomic.Int64
}

// follow reads until it is stopped.
func (f *follower) follow(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		page, err := f.page(ctx)
		if err != nil {
			select { // the program was killed, or has not started yet
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
			continue
		}
		for _, e := range page {
			if e.Sequence != int64(len(f.seen)+1) {
				t.Errorf("after event %d the follower was given %d", len(f.seen), e.Sequence)
				return
			}
			f.seen = append(f.seen, e)
		}
		f.count.Store(int64(len(f.seen)))
	}
}

func (f *follower) page(ctx context.Context) ([]apptest.Event, error) {
	c := f.at.Load()
	if c == nil {
		return nil, context.Canceled
	}
	a, err := c.Try(ctx, http.MethodGet, "/api/v1/events?limit=20&wait=1&after="+strconv.Itoa(len(f.seen)), nil)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("answered %s", a)
	}
	var feed struct {
		Data struct{ Data []apptest.Event }
	}
	if err == nil {
		err = json.Unmarshal([]byte(a.Body), &feed)
	}
	return feed.Data.Data, err
}

// check compares the events that the follower has read with the final feed.
func (f *follower) check(t *testing.T, feed []apptest.Event) {
	t.Helper()
	for i, e := range f.seen {
		now := feed[i]
		if e.ID != now.ID || e.Event != now.Event || !e.CreatedAt.Equal(now.CreatedAt) || !bytes.Equal(e.Data, now.Data) {
			t.Fatalf("the follower was given\n%+v\nwhere the feed has\n%+v", e, now)
		}
	}
	t.Logf("%d events", len(feed))
}

// told compares the responses that the buyers got with the feed. Each operation has one event for
// its beginning and one event for its outcome.
func (l *ledgerOfKeys) told(t *testing.T, feed []apptest.Event) {
	t.Helper()
	told := map[string][]string{}
	for _, e := range feed {
		var data struct{ IdempotencyKey string }
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		told[data.IdempotencyKey] = append(told[data.IdempotencyKey], e.Event)
	}
	for key, a := range l.heard {
		kinds := told[key]
		if len(kinds) != 2 || kinds[0] != "vtu.pending" || a.Status == http.StatusBadRequest && kinds[1] != "vtu.failed" {
			t.Errorf("%s was answered %s, and the feed tells %q of it", key, a, kinds)
		}
	}
	t.Logf("%d of %d orders were answered", len(l.heard), len(l.order))
	if len(l.heard) == 0 {
		t.Error("nothing was answered")
	}
}
