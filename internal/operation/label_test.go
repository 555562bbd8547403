package operation_test

import (
	"encoding/json"
	"testing"

	"github.com/kobo-waas/kobo/internal/operation"
)

// Metadata is stored in one form, whatever the order and the white space of the request.
func TestMetadataHasOneForm(t *testing.T) {
	for text, want := range map[string]operation.Metadata{
		`{"b": "2", "a" : "1"}`: `{"a":"1","b":"2"}`, `{}`: "", `null`: "", `{"a":"<é\u00e9>"}`: `{"a":"\u003céé\u003e"}`,
	} {
		var got operation.Metadata
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		if again, err := json.Marshal(got); err != nil || got != "" && string(again) != string(want) {
			t.Errorf("%s: %s, %v", text, again, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"a": 1}`), new(operation.Metadata)); err == nil {
		t.Error("a value that is not a text is accepted")
	}
	if none, err := json.Marshal(operation.Labels{}); err != nil || string(none) != "{}" {
		t.Errorf("%s, %v", none, err)
	}
}

// Different labels have different marks, although the parts of a mark have no separator of their own.
func TestMarksDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, of := range [][3]string{
		{"payout", "a", "b"}, {"payout", "", "ab"}, {"payout", "ab", ""}, {"vtu", "a", "b"}, {"payout", "a", "b,"}, {"payout", "a,1:b", ""},
	} {
		m := operation.Mark(of[0], of[1], of[2])
		if seen[m] || len(m) > 60 || m != operation.Mark(of[0], of[1], of[2]) {
			t.Errorf("%q: %s", of, m)
		}
		seen[m] = true
	}
}

// Metadata is found by each key, whatever its length. An operation is read with its labels.
func TestAnOperationIsReadWithItsLabels(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		o := operation.Operation{
			Company: p.company, Kind: "test", IdempotencyKey: "order-1", Provider: "bank", SettlementID: 1, Amount: price, Fee: fee,
			Labels: operation.Labels{ExternalReference: "invoice-1", Metadata: `{"a":"1","b":"2"}`},
		}
		o = p.Start(o)
		p.must(p.book.Commit(t.Context(), p.Unit(o, 1, "a test")))
		found, err := p.Find(t.Context(), p.company, o.ID)
		if err != nil || found.Labels != o.Labels {
			t.Errorf("%+v, %v", found.Labels, err)
		}
		for reference, want := range map[string]bool{"invoice-1": true, "invoice-2": false, "": false} {
			if got, err := p.Referenced(t.Context(), p.company, "test", reference); err != nil || got != want {
				t.Errorf("%q: %v, %v", reference, got, err)
			}
		}
		other := o
		other.ID, other.IdempotencyKey = "", "order-2"
		err = p.book.Commit(t.Context(), p.Unit(p.Start(other), 1, "a test"))
		if _, earlier := operation.Earlier(err); !operation.IsReferenceUsed(err) || earlier {
			t.Errorf("the reference again: %v", err)
		}
		err = p.book.Commit(t.Context(), p.Unit(p.Start(o), 1, "a test"))
		if earlier, ok := operation.Earlier(err); !ok || earlier.ID != o.ID {
			t.Errorf("the operation again: %v", err)
		}
	})
}
