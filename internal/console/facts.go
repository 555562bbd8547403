package console

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// fact is a value of a request or of an answer of the API, with its name in words.
type fact struct{ label, value string }

// moneyFields are the fields of requests and answers that are amounts in naira.
var moneyFields = []string{"amount", "lowBalance", "balance", "flat", "cap", "from"}

// factsOf returns the values of a JSON text in their order, as people read them. It leaves out empty values, and the
// digest of a link: nobody can compare it with anything.
func factsOf(text json.RawMessage) (out []fact) {
	readFacts("", "", text, &out)
	return out
}

func readFacts(label, name string, text json.RawMessage, out *[]fact) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || name == "linkDigest" {
		return
	}
	switch text[0] {
	case '{', '[':
		readMore(label, text, out)
	case '"':
		var value string
		if json.Unmarshal(text, &value) == nil && value != "" {
			*out = append(*out, fact{label, inLagos(value)})
		}
	case 'n': // null
	case 't':
		*out = append(*out, fact{label, "Yes"})
	case 'f':
		*out = append(*out, fact{label, "No"})
	default:
		*out = append(*out, fact{label, numberFact(name, string(text))})
	}
}

// readMore reads the parts of an object or of a list. A part of a list has its number.
func readMore(label string, text json.RawMessage, out *[]fact) {
	d := json.NewDecoder(bytes.NewReader(text))
	start, err := d.Token()
	for n := 1; err == nil && d.More(); n++ {
		name := strconv.Itoa(n)
		if start == json.Delim('{') {
			key, isText := json.Token(nil), false
			if key, err = d.Token(); err != nil {
				return
			}
			if name, isText = key.(string); !isText {
				return
			}
		}
		var part json.RawMessage
		if err = d.Decode(&part); err == nil {
			readFacts(sentence(strings.TrimSpace(label+" "+strings.ToLower(actWords(name)))), name, part, out)
		}
	}
}

// secretNames are the fields of answers that the operators' API shows once, with their words.
var secretNames = []choice{
	{"apiKey", "API key"}, {"keyToken", "Key token, which the company exchanges for its key"}, {"pinToken", "PIN token, with which the company sets its PIN"}, {"code", "Code of the invitation"},
}

// shownOnce returns the values of an answer that nothing shows again, such as a key.
func shownOnce(answer json.RawMessage) (out []fact) {
	var parts any
	if json.Unmarshal(answer, &parts) == nil {
		findSecrets(parts, &out)
	}
	return out
}

func findSecrets(part any, out *[]fact) {
	switch part := part.(type) {
	case []any:
		for _, one := range part {
			findSecrets(one, out)
		}
	case map[string]any:
		for _, name := range secretNames {
			if text, isText := part[name.value].(string); isText && text != "" {
				*out = append(*out, fact{name.label, text})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(part)) {
			findSecrets(part[name], out)
		}
	}
}

// numberFact returns a number with separators, and an amount with its naira sign.
func numberFact(name, text string) string {
	if slices.Contains(moneyFields, name) {
		if k, err := money.Parse(text); err == nil {
			return naira(k)
		}
	}
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		return thousands(text)
	}
	return text
}
