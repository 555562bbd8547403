package apptest_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// Two programs share a database, and each is used by eight buyers. Every purchase has exactly one
// outcome, and the event feed has no gap.
func TestTwoProgramsShareTheWork(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		programs := []*apptest.Program{home.Start(t), home.Start(t)}
		p := programs[0]
		bundle := p.Bundle()
		endings := []string{"10", "01", "04", "05", "06", "07"}
		var buyers sync.WaitGroup
		for i := range 8 {
			buyers.Go(func() {
				c := programs[i%2].Client
				for n, ending := range endings {
					order := c.Order(bundle, fmt.Sprintf("shared-%d-%d", i, n), ending)
					if _, err := c.Try(context.Background(), http.MethodPost, apptest.PurchaseData, order); err != nil {
						t.Error(err)
					}
				}
			})
		}
		buyers.Wait()
		p.Audit(t, apptest.DevFloat)
		for range 3 {
			programs[1].Advance(10 * time.Minute)
		}
		resolved(t, p.Client)
		transactions := p.Audit(t, apptest.DevFloat)
		if len(transactions) != 8*len(endings) {
			t.Errorf("%d transactions", len(transactions))
		}
		for i, q := range programs {
			for n, tr := range q.Transactions() {
				if string(tr.Raw) != string(transactions[n].Raw) {
					t.Errorf("program %d shows another history: %s", i, tr.Raw)
				}
			}
		}
	})
}

// When one program commits an event, the long polls at a second program get this event immediately.
func TestALongPollHearsOfTheOtherProgram(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		here, there := home.Start(t), home.Start(t)
		bundle := here.Bundle()
		for i, buyer := range []*apptest.Program{here, there} {
			head := int64(len(here.Events(0)))
			heard := poll(t, here.Client, head)
			buyer.Buy(buyer.Order(bundle, fmt.Sprintf("poll-%d", i), "10"))
			var feed struct {
				Data struct{ Data []apptest.Event }
			}
			await(t, heard).Want(t, http.StatusOK).Into(t, &feed)
			if got := feed.Data.Data; len(got) == 0 || got[0].Sequence != head+1 || got[0].Event != "vtu.pending" {
				t.Errorf("poll %d was answered %+v", i, got)
			}
		}
	})
}

// poll waits in the background for the first event after the number head. The returned channel
// receives the response.
func poll(t *testing.T, c *apptest.Client, head int64) <-chan apptest.Answer {
	answer := make(chan apptest.Answer, 1)
	go func() {
		path := "/api/v1/events?wait=30&after=" + strconv.FormatInt(head, 10)
		a, err := c.Try(context.Background(), http.MethodGet, path, nil)
		if err != nil {
			t.Error(err)
		}
		answer <- a
	}()
	return answer
}
