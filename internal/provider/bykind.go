package provider

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ByKind is a setting with one word for each kind of service. The key "*" has the word of all other
// kinds.
type ByKind map[ServiceKind]string

// ParseByKind parses one word for all kinds, such as "kobo", or a word for each kind, such as
// "DATA=kobo, *=naira". Kinds that the text does not name get the word otherwise.
func ParseByKind(text, otherwise string, words ...string) (ByKind, error) {
	if text != "" && !strings.Contains(text, "=") {
		text = AnyKind + "=" + text
	}
	kinds := []string{string(Airtime), string(Data), string(CableTV), string(Utility)}
	parsed, err := ParseRoutes(text, RouteForm{Example: "DATA=" + words[0] + " or *=" + words[0], Noun: "kind of service", Kinds: kinds})
	if err != nil {
		return nil, err
	}
	out := ByKind{AnyKind: otherwise}
	for kind, word := range parsed {
		if !slices.Contains(words, word) {
			return nil, fmt.Errorf("must be %s", strings.Join(quoted(words), " or "))
		}
		out[ServiceKind(kind)] = word
	}
	return out, nil
}

// Of returns the word of a kind.
func (b ByKind) Of(kind ServiceKind) string { return cmp.Or(b[kind], b[AnyKind]) }

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return out
}

// The two words of the setting lookup_by_reference. Absence at a biller whose look-up is unproven
// never fails a purchase.
const (
	Proven   = "proven"
	Unproven = "unproven"
)

// ParseLookup parses the setting lookup_by_reference.
func ParseLookup(text, otherwise string) (ByKind, error) {
	b, err := ParseByKind(text, otherwise, Proven, Unproven)
	if err != nil {
		err = fmt.Errorf("lookup_by_reference: %w", err)
	}
	return b, err
}
