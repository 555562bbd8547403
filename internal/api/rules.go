package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/text"
)

// style is the validation rules and messages for request bodies of the companies' API. The
// messages are those of wallet-api.md.
var style = contract.Style{
	Words:   words,
	Formats: map[string]func(any) error{"int64": wholeNumber, "naira": amount, "email": email, nameFormat: name, "metadata": metadata},
	Trimmed: nameFormat,
	Trim:    trimName,
}

// isControl reports whether c is an ASCII control character. PostgreSQL does not accept NUL. No
// valid name, number or key contains any other control character.
func isControl(c rune) bool { return c < 0x20 || c == 0x7f }

// words returns the error message for a broken rule (wallet-api.md). If isAlone is true, the other
// problems of the field are not reported.
func words(k jsonschema.ErrorKind, f contract.Field) (text string, isAlone bool) {
	pattern := ""
	if p, ok := k.(*kind.Pattern); ok {
		pattern = p.Want
	}
	sent, isText := f.Value.(string)
	switch {
	case isText && (sent == "" || f.Format == nameFormat && sent == " "):
		return "is not allowed to be empty", true
	case pattern != "" && f.IsSecret:
		return fmt.Sprintf("fails to match the required pattern: /%s/", pattern), false
	}
	return plainWords(k, f.Value), false
}

func plainWords(k jsonschema.ErrorKind, value any) string {
	switch k := k.(type) {
	case *kind.Type:
		return typeWords(k)
	case *kind.Enum:
		return "must be one of [" + list(k.Want) + "]"
	case *kind.Const:
		return "must be [" + list([]any{k.Want}) + "]"
	case *kind.MinLength:
		return fmt.Sprintf("length must be at least %d characters long", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("length must be less than or equal to %d characters long", k.Want)
	case *kind.Pattern:
		return fmt.Sprintf(`with value "%v" fails to match the required pattern: /%s/`, value, k.Want)
	case *kind.Minimum:
		return "must be greater than or equal to " + k.Want.RatString()
	case *kind.Maximum:
		return "must be less than or equal to " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "must be greater than " + k.Want.RatString()
	case *kind.MinItems:
		return fmt.Sprintf("must contain at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must contain less than or equal to %d items", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have less than or equal to %d keys", k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + k.Want.RatString()
	case *kind.Format:
		switch k.Want {
		case "date":
			return "must be in YYYY-MM-DD format"
		case "email", "int64", "naira", nameFormat, "metadata":
			return k.Err.Error()
		}
	}
	return "is invalid"
}

func typeWords(k *kind.Type) string {
	if len(k.Want) > 1 {
		return "must be one of [" + strings.Join(k.Want, ", ") + "]"
	}
	switch want := k.Want[0]; {
	case want == "integer" && k.Got == "number":
		return "must be an integer"
	case want == "integer" || want == "number":
		return "must be a number"
	case want == "object":
		return "must be of type object"
	case want == "array":
		return "must be an array"
	default:
		return "must be a " + want
	}
}

func list(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return strings.Join(out, ", ")
}

// maxSafe is the largest whole number that every JSON reader represents exactly.
const maxSafe = 1<<53 - 1

// wholeNumber checks the format of identifiers that are numbers. JSON Schema accepts 1.0 and 1e0
// as integers. The contract accepts only digits.
func wholeNumber(v any) error {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	digits := strings.TrimPrefix(n.String(), "-")
	if strings.ContainsAny(digits, ".eE") {
		return jsonschema.LocalizableError("must be an integer")
	}
	if i, err := strconv.ParseInt(digits, 10, 64); err != nil || i > maxSafe {
		return jsonschema.LocalizableError("must be a safe number")
	}
	return nil
}

// email checks the format of e-mail addresses. It accepts one address without a display name,
// at a domain of at least two labels. The last label begins with a letter (RFC 5321, 4.1.2 and
// 4.5.3.1; RFC 3696, 2).
func email(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	wrong := jsonschema.LocalizableError("must be a valid email")
	if len(text) > 254 {
		return wrong
	}
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text {
		return wrong
	}
	local, domain, _ := strings.Cut(text, "@")
	if len(local) > 64 || !domainName.MatchString(domain) {
		return wrong
	}
	return nil
}

// maxMetadata is the highest number of bytes in the keys and values of metadata.
const maxMetadata = 4 << 10

// metadata checks the format of a company's own data. The schema checks the number of keys, and that
// the values are texts.
func metadata(v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	size := 0
	for key, value := range object {
		text, _ := value.(string)
		switch size += len(key) + len(text); {
		case key == "":
			return jsonschema.LocalizableError("must not have an empty key")
		case strings.ContainsFunc(key+text, isControl):
			return jsonschema.LocalizableError("must not contain control characters")
		}
	}
	if size > maxMetadata {
		return jsonschema.LocalizableError("must be less than or equal to %d bytes long", maxMetadata)
	}
	return nil
}

var domainName = regexp.MustCompile(`^([\pL\pN]([\pL\pN-]{0,61}[\pL\pN])?\.)+\pL[\pL\pN-]{0,61}[\pL\pN]$`)

// amount checks the format of money in requests, which is naira greater than 0. It reads the
// digits as text and never as a float.
func amount(v any) error {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	switch k, err := money.Asked(n.String()); {
	case err == nil && k > 0:
		return nil
	case err == nil, errors.Is(err, money.ErrNegative):
		return jsonschema.LocalizableError("must be greater than 0")
	case errors.Is(err, money.ErrSyntax): // JSON allows this number, but Kobo does not
		return jsonschema.LocalizableError("must be written without an exponent")
	case errors.Is(err, money.ErrRange):
		return jsonschema.LocalizableError("must be less than or equal to %s", money.Max.Number())
	default:
		return jsonschema.LocalizableError("%s", err)
	}
}

// nameFormat is the format of names, which need a letter or a digit. The contract has no pattern
// for names, because regular expressions of different languages define letters differently.
const nameFormat = "name"

// name returns an error for a text that has neither a letter nor a digit. An empty text passes,
// because the rule for the length refuses it.
func name(v any) error {
	s, ok := v.(string)
	if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil
	}
	return jsonschema.LocalizableError("must have a letter or a digit")
}

// trimName removes invisible characters from the ends of a name. A name without visible
// characters becomes a space. The function words reports that space as an empty name.
func trimName(name string) string { return cmp.Or(text.Trim(name), " ") }
