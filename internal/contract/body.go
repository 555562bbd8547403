package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/fault"
)

const (
	// MaxBody is the largest accepted size of a body in bytes, unless the operation has another.
	MaxBody  = 64 << 10
	maxDepth = 32
	// maxNumber is the length of the longest accepted number. No amount or id is longer. The
	// limit keeps 1e999999999 from becoming a number of a billion digits.
	maxNumber = 40
)

// TooLarge is the kind of fault for a body above MaxBody. No business service returns this kind.
const TooLarge fault.Kind = "too large"

// An API may replace the messages of these faults with different texts.
var (
	ErrMalformed = fault.New(fault.Invalid, "Request body is not valid JSON")
	ErrTrailing  = fault.New(fault.Invalid, "Request body has data after its end")
)

// ErrTooLarge returns the fault for a body with more bytes than max.
func ErrTooLarge(max int64) error {
	size := strconv.FormatInt(max>>10, 10) + " KiB"
	if max >= 1<<20 {
		size = strconv.FormatInt(max>>20, 10) + " MiB"
	}
	return fault.New(TooLarge, "Request body is larger than "+size).With(fault.RequestTooLarge)
}

// Body is a request's JSON, with numbers as written and with the order of the keys. Decode
// replaces the request's body by this Body. So generated handlers take the decoded value from
// the Body, and do not decode the text a second time.
type Body struct {
	Value       any
	text        strings.Reader
	keys        []string       // the keys of every object, in the order in which they were sent
	firsts      map[string]int // the first place of each key in keys; nil until an unknown field needs its place
	unprintable [][]string     // the paths of texts that contain control characters; an index is a number
	isControl   func(c rune) bool
}

// ValidatedValue returns the decoded body.
func (b *Body) ValidatedValue() any { return b.Value }

// Read reads the text of the body.
func (b *Body) Read(p []byte) (int, error) { return b.text.Read(p) }

// Close does nothing, because the body has been read already.
func (*Body) Close() error { return nil }

// Decode reads and decodes the body of a request, and stores the result as the request's body. A
// body may have at most max bytes. isControl reports the characters that are not allowed in texts. Operation.Check applies the
// rules.
func Decode(w http.ResponseWriter, r *http.Request, max int64, isControl func(c rune) bool) (*Body, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, ErrTooLarge(max)
	case err != nil:
		return nil, fault.New(fault.Invalid, "Request body could not be read").Because(err)
	}
	if len(raw) == 0 {
		// An empty body counts as an object without fields.
		raw = []byte("{}")
	} else if !isJSON(r.Header.Get("Content-Type")) {
		return nil, fault.New(fault.Invalid, "Content-Type must be application/json")
	}
	b, err := decode(raw, isControl)
	if err != nil {
		return nil, err
	}
	r.Body = b
	return b, nil
}

// isJSON reports whether a Content-Type is application/json. A charset, if present, must be UTF-8.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	charset, named := parameters["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// decode reads exactly one JSON value. encoding/json accepts bad UTF-8, repeated keys and
// trailing data. The contract does not allow any of these.
func decode(raw []byte, isControl func(rune) bool) (*Body, error) {
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, malformed(raw)
	}
	if loneSurrogate(raw) {
		// encoding/json would replace the lone surrogate by U+FFFD, which changes the text.
		return nil, fault.New(fault.Invalid, "Request body holds half of a surrogate pair")
	}
	text := string(raw)
	b := &Body{text: *strings.NewReader(text), isControl: isControl}
	var err error
	b.Value, err = b.read(&scanner{text: text}, nil)
	return b, err
}

// step is one step of the path to a value: the key in an object, or the index in a list.
type step struct {
	key   string
	index int // only if isIndex is true
	// isIndex tells an index from a key, since a key may be a number too.
	isIndex bool
}

// plain returns a path in the form of jsonschema, such as ["lines", "0", "narration"].
func plain(path []step) []string {
	out := make([]string, len(path))
	for i, s := range path {
		if out[i] = s.key; s.isIndex {
			out[i] = strconv.Itoa(s.index)
		}
	}
	return out
}

// written returns a path as the caller reads it, such as lines[0].narration.
func written(path []step) (out string) {
	for _, s := range path {
		if s.isIndex {
			out += "[" + strconv.Itoa(s.index) + "]"
		} else {
			out = dotted(out, s.key)
		}
	}
	return out
}

// loneSurrogate reports whether a JSON text escapes only one half of a surrogate pair (RFC 8259,
// 8.2).
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

// escaped returns the UTF-16 code unit of an escape such as \u00e9 at the beginning of a JSON text.
// If the text does not begin with an escape, escaped returns 0.
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

// malformed returns the fault that describes why a text is not exactly one JSON value.
func malformed(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	var first json.RawMessage
	err := d.Decode(&first)
	if err == nil && utf8.Valid(raw) {
		return ErrTrailing
	}
	return ErrMalformed.Because(err)
}

// scanner reads a text that is known to be valid JSON.
type scanner struct {
	text string
	at   int
}

// next skips white space, and in lists and objects also commas and colons. It returns the next
// character.
func (s *scanner) next() byte {
	for strings.IndexByte(" \t\r\n,:", s.text[s.at]) >= 0 {
		s.at++
	}
	return s.text[s.at]
}

// end reports whether a list or an object ends here, and then skips its last character.
func (s *scanner) end(bracket byte) bool {
	isEnd := s.next() == bracket
	if isEnd {
		s.at++
	}
	return isEnd
}

// take returns the next n bytes.
func (s *scanner) take(n int) string {
	s.at += n
	return s.text[s.at-n : s.at]
}

// quoted returns the string that begins here.
func (s *scanner) quoted() (out string, err error) {
	rest, isPlain := s.text[s.at+1:], true
	for i := 0; ; i++ {
		switch rest[i] {
		case '\\':
			i++
			isPlain = false
		case '"':
			if isPlain {
				return s.take(i + 2)[1 : i+1], nil
			}
			err = json.Unmarshal([]byte(s.take(i+2)), &out)
			return out, err
		}
	}
}

// number returns the number that begins here.
func (s *scanner) number() json.Number {
	rest := s.text[s.at:]
	n := len(rest) - len(strings.TrimLeft(rest, "+-.0123456789eE"))
	return json.Number(s.take(n))
}

// read returns the next value from s. The text is already known to be valid JSON. So read fails
// only for values that JSON allows and the contract forbids.
func (b *Body) read(s *scanner, path []step) (any, error) {
	if len(path) > maxDepth {
		return nil, fault.New(fault.Invalid, "Request body is nested too deeply")
	}
	switch s.next() {
	case '{':
		return b.object(s, path)
	case '[':
		return b.array(s, path)
	case '"':
		text, err := s.quoted()
		if strings.ContainsFunc(text, b.isControl) {
			b.unprintable = append(b.unprintable, plain(path))
		}
		return text, err
	case 't':
		s.take(len("true"))
		return true, nil
	case 'f':
		s.take(len("false"))
		return false, nil
	case 'n':
		s.take(len("null"))
		return nil, nil
	}
	number := s.number()
	_, exponent, _ := strings.Cut(strings.ToLower(number.String()), "e")
	if len(number) > maxNumber || len(exponent) > 3 {
		return nil, fault.New(fault.Invalid, "Request body holds a number that is out of range")
	}
	return number, nil
}

// Within is the name of the entry in a fault's Extra for a repeated field. Its value is the path of
// the object that contains the field.
const Within = "within"

func (b *Body) object(s *scanner, path []step) (any, error) {
	s.take(1)
	out := map[string]any{}
	for !s.end('}') {
		key, err := s.quoted()
		if err != nil {
			return nil, err
		}
		if _, seen := out[key]; seen {
			f := fault.Newf(fault.Invalid, "Request body repeats the field %q", key)
			f.Extra = map[string]any{Within: written(path)}
			return nil, f
		}
		b.keys = append(b.keys, key)
		if out[key], err = b.read(s, append(path, step{key: key})); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *Body) array(s *scanner, path []step) (any, error) {
	s.take(1)
	out := []any{}
	for i := 0; !s.end(']'); i++ {
		v, err := b.read(s, append(path, step{index: i, isIndex: true}))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
