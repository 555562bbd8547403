package apitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// checkEvents holds events against what the section webhooks says that their
// kind carries. The body is an answer with one event, or with a feed of them.
func (c *Contract) checkEvents(body []byte) error {
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal(body, &envelope); err != nil {
		return err
	}
	var feed struct{ Data []json.RawMessage }
	if json.Unmarshal(envelope.Data, &feed) == nil && feed.Data != nil {
		var err error
		for _, one := range feed.Data {
			err = errors.Join(err, c.CheckEvent(one))
		}
		return err
	}
	return c.CheckEvent(envelope.Data)
}

// CheckEvent holds one event, as it is fetched or posted, against what the
// contract says that its kind carries.
func (c *Contract) CheckEvent(text []byte) error {
	var kind struct{ Event string }
	var value any
	if err := errors.Join(json.Unmarshal(text, &kind), json.Unmarshal(text, &value)); err != nil {
		return err
	}
	told := c.doc.Webhooks[kind.Event]
	if told == nil {
		return fmt.Errorf("the contract knows no event %q", kind.Event)
	}
	schema := told.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
	if err := schema.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
		return fmt.Errorf("the event %s, against the contract: %w", kind.Event, err)
	}
	return nil
}

// EventKinds are the kinds that a webhook can ask for, sorted.
func (c *Contract) EventKinds() (out []string) {
	for _, kind := range c.doc.Components.Schemas["EventKind"].Value.Enum {
		out = append(out, kind.(string))
	}
	slices.Sort(out)
	return out
}

// EventExample is the event that the contract shows of a kind, as JSON; null when
// it shows none.
func (c *Contract) EventExample(kind string) ([]byte, error) {
	told := c.doc.Webhooks[kind]
	if told == nil {
		return nil, fmt.Errorf("the contract knows no event %q", kind)
	}
	return json.Marshal(told.Post.RequestBody.Value.Content.Get("application/json").Example)
}
