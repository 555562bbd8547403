package apitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// checkEvents compares events with the payloads that the contract's section webhooks describes
// for their kinds. The body is a response with one event or with a feed.
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

// CheckEvent compares one event with the payload that the contract describes for its kind.
func (c *Contract) CheckEvent(text []byte) error {
	var kind struct{ Event string }
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	told := c.doc.Webhooks[kind.Event]
	if told == nil {
		return fmt.Errorf("the contract knows no event %q", kind.Event)
	}
	if err := c.bodies.check(told.Post.RequestBody.Value.Content.Get("application/json").Schema, text); err != nil {
		return fmt.Errorf("the event %s, against the contract: %w", kind.Event, err)
	}
	return nil
}

// EventKinds returns the kinds of events that a webhook can receive, sorted.
func (c *Contract) EventKinds() (out []string) {
	for _, kind := range c.doc.Components.Schemas["EventKind"].Value.Enum {
		out = append(out, kind.(string))
	}
	slices.Sort(out)
	return out
}

// EventExample returns the contract's example of a kind of event, as JSON. The JSON is null if
// the contract has no example.
func (c *Contract) EventExample(kind string) ([]byte, error) {
	told := c.doc.Webhooks[kind]
	if told == nil {
		return nil, fmt.Errorf("the contract knows no event %q", kind)
	}
	return json.Marshal(told.Post.RequestBody.Value.Content.Get("application/json").Example)
}
