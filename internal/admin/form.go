package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

const maxBody = 64 << 10

// tooLarge is a body above 64 KiB, which no business ever says.
const tooLarge fault.Kind = "too large"

var errTooLarge = fault.New(tooLarge, "Request body is larger than 64 KiB")

// form is a body as the operator sent it: one flat object. The readers below
// take its fields one after the other and remember what is wrong, so that all
// problems are told together; done tells them.
type form struct {
	at       string // what its fields' names begin with, such as bands[0].
	fields   map[string]json.RawMessage
	order    []string
	asked    map[string]bool
	problems []string
}

// readForm reads the body strictly: one JSON object in UTF-8, no field twice,
// nothing after it. No body at all is an object without fields.
func readForm(w http.ResponseWriter, r *http.Request) (*form, error) {
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, errTooLarge
	case err != nil:
		return nil, fault.New(fault.Invalid, "Request body could not be read").Because(err)
	}
	f := newForm("")
	if len(raw) == 0 {
		return f, nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, fault.New(fault.Invalid, "Content-Type must be application/json")
	}
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, fault.New(fault.Invalid, "Request body is not valid JSON")
	}
	return f, f.read(json.NewDecoder(bytes.NewReader(raw)))
}

func newForm(at string) *form {
	return &form{at: at, fields: map[string]json.RawMessage{}, asked: map[string]bool{}}
}

// read takes the fields apart. The text is known to be one JSON value.
func (f *form) read(d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fault.New(fault.Invalid, "Request body must be a JSON object").Because(err)
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return fault.New(fault.Invalid, "Request body is not valid JSON").Because(err)
		}
		if _, twice := f.fields[name]; twice {
			return fault.Newf(fault.Invalid, "Request body repeats the field %q", f.at+name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fault.New(fault.Invalid, "Request body is not valid JSON").Because(err)
		}
		f.fields[name] = value
		f.order = append(f.order, name)
	}
	return nil
}

func (f *form) wrong(name, format string, args ...any) {
	f.problems = append(f.problems, fmt.Sprintf("%q ", f.at+name)+fmt.Sprintf(format, args...))
}

// take is a field's raw token, or nil when it was not sent.
func (f *form) take(name string, required bool) json.RawMessage {
	f.asked[name] = true
	value, sent := f.fields[name]
	if !sent && required {
		f.wrong(name, "is required")
	}
	return value
}

// text reads a string.
func (f *form) text(name string) string { return f.asText(name, f.take(name, true)) }

// optional reads a string that need not be there.
func (f *form) optional(name string) string { return f.asText(name, f.take(name, false)) }

func (f *form) asText(name string, raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		f.wrong(name, "must be a string")
		return ""
	}
	// PostgreSQL keeps no NUL, and no other control character has a place here.
	if strings.ContainsFunc(*s, unicode.IsControl) {
		f.wrong(name, "must not contain control characters")
		return ""
	}
	return *s
}

// flag reads true or false.
func (f *form) flag(name string) bool {
	raw := f.take(name, true)
	if raw != nil && string(raw) != "true" && string(raw) != "false" {
		f.wrong(name, "must be a boolean")
	}
	return string(raw) == "true"
}

// whole reads a number without sign, fraction or exponent.
func (f *form) whole(name string) int64 { return f.asWhole(name, f.take(name, true)) }

// account reads the number of a settlement account; absent or null is 0, the
// whole company. A 0 that was sent is a slip.
func (f *form) account(name string) int64 {
	raw := f.take(name, false)
	if string(raw) == "null" {
		return 0
	}
	n := f.asWhole(name, raw)
	if n == 0 && string(raw) == "0" {
		f.wrong(name, "must be a positive integer")
	}
	return n
}

func (f *form) asWhole(name string, raw json.RawMessage) int64 {
	if raw == nil {
		return 0
	}
	n, err := strconv.ParseUint(string(raw), 10, 53)
	if err != nil {
		f.wrong(name, "must be a positive integer")
	}
	return int64(n)
}

// amount reads naira from the digits of a JSON number.
func (f *form) amount(name string) money.Kobo { return f.asAmount(name, f.take(name, true)) }

// some reads naira that need not be there.
func (f *form) some(name string) money.Kobo { return f.asAmount(name, f.take(name, false)) }

// threshold reads naira above 0, or null for none, which is 0.
func (f *form) threshold(name string) money.Kobo {
	raw := f.take(name, true)
	if raw == nil || string(raw) == "null" {
		return 0
	}
	before := len(f.problems)
	k := f.asAmount(name, raw)
	if k == 0 && len(f.problems) == before {
		f.wrong(name, "must be greater than 0")
	}
	return k
}

func (f *form) asAmount(name string, raw json.RawMessage) money.Kobo {
	if raw == nil {
		return 0
	}
	k, err := money.Asked(string(raw))
	if err != nil {
		f.wrong(name, "%v", err)
	}
	return k
}

// instant reads a moment that need not be there.
func (f *form) instant(name string) time.Time {
	s := f.optional(name)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		f.wrong(name, "must be in ISO 8601 date format")
	}
	return t.UTC()
}

// each reads a list of objects, one after the other.
func (f *form) each(name string, read func(item *form)) {
	raw := f.take(name, true)
	if raw == nil {
		return
	}
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		f.wrong(name, "must be an array")
		return
	}
	for i, raw := range items {
		at := fmt.Sprintf("%s[%d]", name, i)
		if raw[0] != '{' {
			f.wrong(at, "must be of type object")
			continue
		}
		item := newForm(f.at + at + ".")
		if err := item.read(json.NewDecoder(bytes.NewReader(raw))); err != nil {
			f.wrong(at, "must not repeat a field")
			continue
		}
		read(item)
		f.problems = append(f.problems, item.found()...)
	}
}

// found is what was wrong, fields that nobody asked for included.
func (f *form) found() []string {
	for _, name := range f.order {
		if !f.asked[name] {
			f.wrong(name, "is not allowed")
		}
	}
	return f.problems
}

// done is nil when every field could be read and there was no other.
func (f *form) done() error {
	found := f.found()
	if found == nil {
		return nil
	}
	why := fault.New(fault.Invalid, "Validation error")
	why.Details = found
	return why
}
