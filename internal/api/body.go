package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/fault"
)

const (
	maxBody  = 64 << 10
	maxDepth = 32
	// maxNumber is more digits than any amount or id has. It keeps 1e999999999
	// from becoming a number of a billion digits.
	maxNumber = 40
)

// tooLarge is a body above 64 KiB. It is a kind of its own because no business
// ever says it.
const tooLarge fault.Kind = "too large"

var errTooLarge = fault.New(tooLarge, "Request body is larger than 64 KiB")

// body is a request's JSON as the caller sent it: numbers as written, and the
// order of keys.
type body struct {
	value       any
	keys        []string // of every object, in the order they were sent
	unprintable []string // dotted paths of strings with control characters
}

// checked is a request body that has been read. The generated handlers take
// the value from it instead of decoding the text a second time, with field names
// matched exactly.
type checked struct {
	io.Reader
	value any
}

// ValidatedValue is the decoded body.
func (c checked) ValidatedValue() any { return c.value }

// Close does nothing: the body has been read.
func (checked) Close() error { return nil }

// readBody reads, decodes and checks the body of a request by an operation's
// rules, and leaves it in the request for the handler. It returns the decoded body.
func readBody(w http.ResponseWriter, r *http.Request, rules *rules) (*body, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, errTooLarge
	case err != nil:
		return nil, fault.New(fault.Invalid, "Request body could not be read").Because(err)
	}
	if len(raw) == 0 {
		// Nothing sent is an object without fields: the rules say what is missing.
		raw = []byte("{}")
	} else if !isJSON(r.Header.Get("Content-Type")) {
		return nil, fault.New(fault.Invalid, "Content-Type must be application/json")
	}
	b, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if err := rules.check(b); err != nil {
		return nil, err
	}
	r.Body = checked{Reader: bytes.NewReader(raw), value: b.value}
	return b, nil
}

// isJSON accepts application/json, in UTF-8 when it names a charset.
func isJSON(contentType string) bool {
	media, parameters, err := mime.ParseMediaType(contentType)
	charset, named := parameters["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// decode reads one JSON value and nothing after it. encoding/json accepts bad
// UTF-8, repeated keys and trailing data; the contract accepts none of them.
func decode(raw []byte) (*body, error) {
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, malformed(raw)
	}
	if loneSurrogate(raw) {
		// encoding/json would write U+FFFD in its place, and keep what nobody sent.
		return nil, fault.New(fault.Invalid, "Request body holds half of a surrogate pair")
	}
	b := &body{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var err error
	b.value, err = b.read(d, nil)
	return b, err
}

// loneSurrogate tells whether a JSON text escapes half of a character of two
// code units (RFC 8259, 8.2).
func loneSurrogate(raw []byte) bool {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return false
		}
		raw = raw[at:]
		first := escaped(raw)
		switch {
		case !utf16.IsSurrogate(first):
			raw = raw[2:]
		case utf16.DecodeRune(first, escaped(raw[6:])) == utf8.RuneError:
			return true
		default:
			raw = raw[12:]
		}
	}
}

// escaped is the code unit of a JSON text that begins with \u, or 0.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}

// malformed says what is wrong with a text that is not one JSON value.
func malformed(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	var first json.RawMessage
	err := d.Decode(&first)
	if err == nil && utf8.Valid(raw) {
		return fault.New(fault.Invalid, "Request body has data after its end")
	}
	return fault.New(fault.Invalid, "Request body is not valid JSON").Because(err)
}

// read takes the next value from d. The text is known to be JSON, so that only
// what JSON allows and the contract does not can fail here.
func (b *body) read(d *json.Decoder, path []string) (any, error) {
	if len(path) > maxDepth {
		return nil, fault.New(fault.Invalid, "Request body is nested too deeply")
	}
	token, err := d.Token()
	if err != nil {
		return nil, fault.New(fault.Invalid, "Request body is not valid JSON").Because(err)
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return b.object(d, path)
		}
		return b.array(d, path)
	case string:
		if unprintable(token) {
			b.unprintable = append(b.unprintable, strings.Join(path, "."))
		}
		return token, nil
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(token.String()), "e")
		if len(token) > maxNumber || len(exponent) > 3 {
			return nil, fault.New(fault.Invalid, "Request body holds a number that is out of range")
		}
		return token, nil
	default:
		return token, nil
	}
}

func (b *body) object(d *json.Decoder, path []string) (any, error) {
	out := map[string]any{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, fault.New(fault.Invalid, "Request body is not valid JSON").Because(err)
		}
		if _, seen := out[key]; seen {
			return nil, fault.Newf(fault.Invalid, "Request body repeats the field %q", key)
		}
		b.keys = append(b.keys, key)
		if out[key], err = b.read(d, append(path, key)); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return out, err
}

func (b *body) array(d *json.Decoder, path []string) (any, error) {
	out := []any{}
	for d.More() {
		v, err := b.read(d, append(path, "[]"))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.Token()
	return out, err
}

// unprintable tells whether a text holds control characters. PostgreSQL keeps
// no NUL, and the others have no place in a name, a number or a key.
func unprintable(s string) bool {
	return slices.ContainsFunc([]byte(s), func(c byte) bool { return c < 0x20 || c == 0x7f })
}
