package books

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// Control carries out a request below /sandbox/. It returns the body of the response, or a
// Complaint.
type Control func(*http.Request) (any, error)

// Success is the body of a response without data.
var Success = map[string]any{"status": "success"}

// Steer returns a Control that decodes its request as a JSON object of type T.
func Steer[T any](do func(ctx context.Context, req T) (any, error)) Control {
	return func(r *http.Request) (any, error) {
		var req T
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&req); err != nil {
			return nil, Complaint("The body must be one JSON object with the fields of this control")
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, Complaint("Nothing may follow the JSON object")
		}
		return do(r.Context(), req)
	}
}

// mostCopies is the largest number of additional copies of one notice.
const mostCopies = 1000

// Copies returns the number of additional copies of a notice. It reads the field "duplicate" of a
// control request, which is true or a number.
func Copies(duplicate json.RawMessage) (more int64, err error) {
	var twice bool
	switch {
	case len(duplicate) == 0:
	case json.Unmarshal(duplicate, &twice) == nil:
		if twice {
			more = 1
		}
	case json.Unmarshal(duplicate, &more) != nil || more < 0 || more > mostCopies:
		err = Complaint(`"duplicate" must be true or 0 to 1000`)
	}
	return more, err
}
