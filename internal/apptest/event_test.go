package apptest_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// transactionSchema is what the contract says of a VTU transaction.
func transactionSchema(t *testing.T) *openapi3.Schema {
	t.Helper()
	text, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Components.Schemas["VtuTransaction"].Value
}

// An event carries what GET shows in that state, to the byte: while the provider
// is asked, when it has delivered, and when the money is back.
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
