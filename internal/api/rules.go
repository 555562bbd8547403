package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/money"
)

// style is how the companies' API judges and words bodies. The words are those of
// wallet-api.md.
func style(c clock.Clock) contract.Style {
	return contract.Style{
		Words:   words,
		Formats: map[string]func(any) error{"int64": wholeNumber, "naira": amount, "email": email, nameFormat: name},
		Trimmed: nameFormat,
		Trim:    trimName,
		Clock:   c,
	}
}

// isControl tells the control characters of ASCII. PostgreSQL keeps no NUL, and
// the others have no place in a name, a number or a key.
func isControl(c rune) bool { return c < 0x20 || c == 0x7f }

// words says a broken rule in the words of the specification.
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
	case *kind.ExclusiveMaximum:
		return "must be less than " + k.Want.RatString()
	case *kind.Format:
		return formatWords(k)
	default:
		return "is invalid"
	}
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

func formatWords(k *kind.Format) string {
	switch k.Want {
	case "email":
		return "must be a valid email"
	case "date":
		return "must be in YYYY-MM-DD format"
	case "int64", "naira", nameFormat:
		return k.Err.Error()
	default:
		return "is invalid"
	}
}

func list(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return strings.Join(out, ", ")
}

// maxSafe is the largest whole number that every JSON reader keeps exactly.
const maxSafe = 1<<53 - 1

// wholeNumber is the format of identifiers that are numbers. JSON Schema calls
// 1.0 and 1e0 integers. The contract wants the digits alone.
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

// email is the format of e-mail addresses: one address without a name, at a
// domain of at least two labels. The last label begins with a letter (RFC 5321,
// 4.1.2 and 4.5.3.1; RFC 3696, 2).
func email(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	wrong := jsonschema.LocalizableError("must be a valid email")
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text || len(text) > 254 {
		return wrong
	}
	local, domain, _ := strings.Cut(text, "@")
	if len(local) > 64 || !domainName.MatchString(domain) {
		return wrong
	}
	return nil
}

var domainName = regexp.MustCompile(`^([\pL\pN]([\pL\pN-]{0,61}[\pL\pN])?\.)+\pL[\pL\pN-]{0,61}[\pL\pN]$`)

// amount is the format of money that a caller names: naira greater than 0, read
// from the digits that were sent and never through a float.
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
	case errors.Is(err, money.ErrSyntax): // what JSON calls a number and we do not
		return jsonschema.LocalizableError("must be written without an exponent")
	case errors.Is(err, money.ErrRange):
		return jsonschema.LocalizableError("must be less than or equal to %s", money.Max.Number())
	default:
		return jsonschema.LocalizableError("%s", err)
	}
}
