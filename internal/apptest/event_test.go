package apptest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// transactionSchema returns the schema of a VTU transaction in the API contract.
func transactionSchema(t *testing.T) *openapi3.Schema {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	return doc.Components.Schemas["VtuTransaction"].Value
}

// The data of an event is equal, byte for byte, to the response of GET for the purchase in the same
// state. This holds while the purchase is pending, after the delivery, and after the refund.
func TestAnEventCarriesWhatGetShows(t *testing.T) {
	schema := transactionSchema(t)
	each(t, func(t *testing.T, dialect db.Dialect) {
		for _, c := range []struct{ ending, last string }{{"10", "vtu.success"}, {"01", "vtu.failed"}, {"06", "vtu.success"}} {
			g := newGate()
			p := apptest.Start(t, dialect, apptest.Around(g.around))
			head := int64(len(p.Events(0)))
			answer := ask(t, p.Client, p.Order(p.Bundle(), "told", c.ending))
			await(t, g.entered)
			shown := [][]byte{p.Transaction("told").Raw}
			close(g.open)
			await(t, answer)
			p.Advance(time.Minute)
			resolved(t, p.Client)
			shown = append(shown, p.Transaction("told").Raw)
			events := p.Events(head)
			if len(events) != 2 || events[0].Event != "vtu.pending" || events[1].Event != c.last {
				t.Fatalf("…%s: %+v", c.ending, events)
			}
			for i, e := range events {
				if !bytes.Equal(e.Data, shown[i]) {
					t.Errorf("…%s: %s carries\n%s, and GET showed\n%s", c.ending, e.Event, e.Data, shown[i])
				}
				var value any
				if err := json.Unmarshal(e.Data, &value); err != nil {
					t.Fatal(err)
				}
				if err := schema.VisitJSON(value, openapi3.MultiErrors()); err != nil {
					t.Errorf("…%s: %s against the contract: %v", c.ending, e.Event, err)
				}
			}
		}
	})
}

// A long poll is answered by the event that it waits for, and not by the end of its wait. This holds in
// the program that commits, and in a second program.
func TestALongPollIsAnsweredByTheEvent(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		here, there := home.Start(t), home.Spawn(t, apptest.Never, time.Second)
		bundle := here.Bundle()
		for name, buyer := range map[string]*apptest.Client{"here": here.Client, "there": there.Client} {
			const rounds = 21
			took := make([]time.Duration, rounds)
			for n := range took {
				head := int64(len(here.Events(0)))
				heard := first(t, here.Client, head)
				order := buyer.Order(bundle, fmt.Sprintf("%s-%d", name, n), "10")
				buyer.Do(http.MethodPost, apptest.PurchaseData, order).Want(t, http.StatusOK)
				got := await(t, heard)
				if got.Sequence != head+1 {
					t.Fatalf("heard %+v", got)
				}
				took[n] = got.at.Sub(got.CreatedAt)
			}
			slices.Sort(took)
			t.Logf("%s: half within %s, all within %s", name, took[rounds/2], took[rounds-1])
		}
	})
}

// heard is an event and the time at which the response with this event arrived.
type heard struct {
	apptest.Event
	at time.Time
}

// first waits in the background for the first event after the number head, and sends the event to
// the returned channel.
func first(t *testing.T, c *apptest.Client, head int64) <-chan heard {
	answer, out := poll(t, c, head), make(chan heard, 1)
	go func() {
		a, at := <-answer, time.Now()
		var feed struct {
			Data struct{ Data []apptest.Event }
		}
		if json.Unmarshal([]byte(a.Body), &feed) != nil || len(feed.Data.Data) == 0 {
			t.Errorf("the poll was answered %s", a)
			feed.Data.Data = make([]apptest.Event, 1)
		}
		out <- heard{feed.Data.Data[0], at}
	}()
	return out
}
