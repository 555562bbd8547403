package console

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// InWords returns a large amount in words.
func InWords(k money.Kobo) string { return inWords(k) }

// Patterns returns the patterns of all routes.
func Patterns() []string { return slices.Sorted(maps.Keys((&console{}).all())) }

// LineOf reads a line of a bulk payout, and returns its fields with bars between them.
func LineOf(text string, banks ...[2]string) (string, error) {
	var list []bank
	for _, b := range banks {
		list = append(list, bank{b[0], b[1]})
	}
	l, wrong := lineOf(bookOf(list), text)
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	field := func(name string) any {
		if value, has := l[name]; has {
			return value
		}
		return ""
	}
	return fmt.Sprintf("%v|%v|%v|%v|%v", field("bank_code"), field("account_number"), field("amount"), field("narration"), field("externalReference")), nil
}
