package console

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
)

// ownEvent is an event of the company as pages show it.
type ownEvent struct {
	ID        string          `json:"id"`
	Sequence  int64           `json:"sequence"`
	Event     string          `json:"event"`
	CreatedAt string          `json:"createdAt"`
	Data      json.RawMessage `json:"data"`
}

// lines returns the data of the event as text, a field on each line.
func (e ownEvent) lines() string {
	var out bytes.Buffer
	if err := json.Indent(&out, e.Data, "", "  "); err != nil {
		return string(e.Data) // the API has sent it as JSON
	}
	return out.String()
}

// reference returns the reference of the payment that the event is about, or "".
func (e ownEvent) reference() string {
	var of struct {
		Reference string `json:"reference"`
	}
	if json.Unmarshal(e.Data, &of) != nil {
		return "" // data of another shape names no payment
	}
	return of.Reference
}

// showOwnEvents lists the events of the company that are not archived, the newest first.
func showOwnEvents(v *visit) (view, error) {
	l, err := rowsAfter[ownEvent](v, "/api/v1/events?limit=50", v.filter("after", ""))
	t := table{
		title: "Events", item: "developers", tabs: developerTabs, tab: developerTabs[2].path, next: l.next,
		head: []string{"Number", "Time", "Event", "Id"}, nothing: "There is no event yet. Each change that concerns your programs makes one.",
	}
	for _, e := range l.rows {
		t.rows = append(t.rows, []cell{link(strconv.FormatInt(e.Sequence, 10), "/app/developers/events/"+e.ID), time_(e.CreatedAt), {text: e.Event, code: true}, reference(e.ID)})
	}
	return t.view(v), err
}

// showOwnEvent shows what webhooks and the feed say of an event.
func showOwnEvent(v *visit) (view, error) {
	var e one[ownEvent]
	_, err := v.ask("GET", "/api/v1/events/"+url.PathEscape(v.PathValue("id")), nil, &e)
	return view{title: "Event " + strconv.FormatInt(e.Data.Sequence, 10), item: "developers", body: ownEventPage(v, e.Data)}, err
}
