package provider

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Exchange is a request with its response, without secrets and personal data.
type Exchange struct {
	Provider string `json:"provider"`
	At       string `json:"at"`
	Request  Half   `json:"request"`
	Response Half   `json:"response"`
}

// Half is a request or a response. The body is JSON, or a text if the body was not JSON.
type Half struct {
	Method  string            `json:"method,omitempty"`
	Address string            `json:"address,omitempty"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body,omitempty"`
}

// shownHeaders lists the headers whose values may be recorded. The names of other headers are
// recorded without their values.
var shownHeaders = []string{"Accept", "Content-Type", "Content-Length", "Date", "Retry-After", "Server", "Allow", "User-Agent"}

const hidden = "[redacted]"

// redacted returns a request and its response without secrets.
// If private is true, the host's name may contain a key.
func redacted(base string, private bool, r *http.Request, sent []byte, res *http.Response, got []byte) Exchange {
	x := redactor{public: publicList.MatchString(r.URL.Path), known: sentSecrets(base, r)}
	return Exchange{
		Request:  Half{Method: r.Method, Address: x.address(base, private, r.URL), Headers: headers(r.Header), Body: x.body(sent)},
		Response: Half{Status: res.StatusCode, Headers: headers(res.Header), Body: x.body(got)},
	}
}

func headers(h http.Header) map[string]string {
	out := map[string]string{}
	for name, values := range h {
		out[name] = hidden
		if slices.Contains(shownHeaders, http.CanonicalHeaderKey(name)) {
			out[name] = strings.Join(values, ", ")
		}
	}
	return out
}

// shortestSecret is the length of the shortest text of a request that is treated as a secret.
const shortestSecret = 8

// sentSecrets returns the texts of a request that may be keys. These are the values of its headers
// with keys, and the path and the query of the provider's address.
func sentSecrets(base string, r *http.Request) (out []string) {
	for name, values := range r.Header {
		for _, v := range values {
			if !slices.Contains(shownHeaders, http.CanonicalHeaderKey(name)) {
				out = append(out, strings.TrimPrefix(v, "Bearer "))
			}
		}
	}
	if u, err := url.Parse(base); err == nil {
		password, _ := u.User.Password()
		out = append(append(out, strings.Split(u.Path, "/")...), u.User.Username(), password)
		for _, values := range u.Query() {
			out = append(out, values...)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < shortestSecret })
}

// publicList matches the paths of lists in which a name is that of a bank or of a product.
var publicList = regexp.MustCompile(`/transfers/banks$|/vas/service|/service(s$|-categories$|-variations$)`)

// These patterns match the names of fields whose values are never recorded: secrets, and facts about
// a person.
var (
	secretField = regexp.MustCompile(`(?i)token|assertion|secret|key|password|pin$|otp|cvv|hmac|authorization|bvn|nin$|identity|(client|user)_?id|pan$|^number$|cardnumber`)
	personField = regexp.MustCompile(`(?i)name|phone|e?mail|address|birth|dob|gender|narration|^line[0-9]|city$|postal`)
	// plainField matches the names of fields whose long numbers are no account numbers.
	plainField = regexp.MustCompile(`(?i)amount|balance|price|fees?$|total|timestamp`)
)

// These patterns match texts that may be a secret or personal data in any field.
var (
	longDigits = regexp.MustCompile(`[0-9]{7,}`)
	webAddress = regexp.MustCompile(`(?i)\b(?:https?|wss?)://\S+`)
	mail       = regexp.MustCompile(`\S+@\S+`)
	recordID   = regexp.MustCompile(`^[0-9a-f]{24}$`)
	// chainText matches a number, an address or a hash of a blockchain, which are public.
	chainText   = regexp.MustCompile(`^0x[0-9a-fA-F]*$`)
	plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
)

// redactor removes secrets from one exchange.
type redactor struct {
	public bool     // names belong to banks and products
	known  []string // texts that are secrets
}

// body returns a body without secrets.
func (x redactor) body(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber() // a float would change an amount
	if d.Decode(&v) != nil || d.More() {
		return Message(x.text(string(b)))
	}
	return x.value("", v)
}

// value returns the value of a field without secrets. The field of a list's elements is that of the
// list.
func (x redactor) value(field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			as := name
			if secretField.MatchString(field) || personField.MatchString(field) {
				as = field // all of an address is about the person, and not only its lines
			}
			out[name] = x.value(as, inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = x.value(field, inner)
		}
		return out
	case json.Number:
		return x.scalar(field, v.String(), v)
	case string:
		return x.scalar(field, v, v)
	}
	return v // a boolean or null
}

// scalar returns a text or a number without secrets. Unless something is left out, it returns v.
func (x redactor) scalar(field, text string, v any) any {
	isKnown := slices.ContainsFunc(x.known, func(known string) bool { return strings.Contains(text, known) })
	switch onChain := chainText.MatchString(text); {
	case text == "", onChain && !isKnown, plainField.MatchString(field) && plainNumber.MatchString(text):
		return v
	case secretField.MatchString(field), personField.MatchString(field) && !x.public:
		return hidden
	}
	if shown := x.text(text); shown != text {
		return shown
	}
	return v
}

// text returns a text without secrets. Of an account number the middle digits are left out. A number
// with as many digits as a BVN, a phone or a card has is left out whole.
func (x redactor) text(s string) string {
	for _, known := range x.known {
		s = strings.ReplaceAll(s, known, hidden)
	}
	s = webAddress.ReplaceAllString(s, hidden)
	s = mail.ReplaceAllString(s, hidden)
	s = tokens.ReplaceAllString(s, hidden)
	if recordID.MatchString(s) {
		return s
	}
	return longDigits.ReplaceAllStringFunc(s, func(digits string) string {
		if len(digits) > 10 {
			return hidden
		}
		return digits[:2] + strings.Repeat("*", len(digits)-4) + digits[len(digits)-2:]
	})
}

// address returns the URL of a request without secrets. Of the provider's own address only the host
// is shown, because the rest may be the key of a node.
func (x redactor) address(base string, private bool, u *url.URL) string {
	b, err := url.Parse(base)
	if err != nil {
		return hidden
	}
	path := strings.TrimPrefix(u.Path, strings.TrimRight(b.Path, "/"))
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part != "" && !word.MatchString(part) {
			parts[i] = ":id"
		}
	}
	out := u.Scheme + "://" + u.Host + strings.Join(parts, "/")
	if private {
		return u.Scheme + "://" + hidden
	}
	q := u.Query()
	for name, values := range q {
		for i := range values {
			values[i] = x.text(values[i])
		}
		if secretField.MatchString(name) {
			q.Set(name, hidden)
		}
	}
	if text, err := url.QueryUnescape(q.Encode()); err == nil && text != "" && b.RawQuery == "" {
		out += "?" + text
	}
	return out
}
