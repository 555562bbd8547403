package console

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/person"
)

// InWords returns a large amount in words.
func InWords(k money.Kobo) string { return inWords(k) }

// Patterns returns the patterns of all routes.
func Patterns() []string { return slices.Sorted(maps.Keys((&console{}).all())) }

// AppPatterns returns the patterns of the pages and files of companies' people, without those of streams, which only name
// what has changed.
func AppPatterns() []string {
	all := (&console{side: companies}).allOfApp()
	maps.DeleteFunc(all, func(_ string, r route) bool { return r.stream != nil })
	return slices.Sorted(maps.Keys(all))
}

// AppFiles returns the patterns of the files among them.
func AppFiles() []string {
	return slices.DeleteFunc(AppPatterns(), func(pattern string) bool { return (&console{side: companies}).allOfApp()[pattern].download == nil })
}

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

// Kept returns the fields of a form that may be shown again after a sign-in.
func Kept(form url.Values) url.Values { return kept(form) }

// TypedForms keeps forms, one a second, and returns how many there are then, and whether the first and the last are among them.
func TypedForms(number int) (n int, first, last bool) {
	u, at := &unsents{kept: map[string]unsent{}}, time.Time{}
	who := person.Person{ID: "ada"}
	var names []string
	for range number {
		names = append(names, u.keep(unsent{personID: who.ID, since: at}))
		at = at.Add(time.Second)
	}
	_, first = u.find(names[0], who, at)
	_, last = u.find(names[len(names)-1], who, at)
	return len(u.kept), first, last
}

// IsSecretField reports whether a field of a form is a secret.
func IsSecretField(name string) bool { return isSecretField(name) }

// SecretsWithoutALabel returns the secrets for which the page that asks for a proof has no field.
func SecretsWithoutALabel() []string {
	return slices.DeleteFunc(slices.Clone(neverKept), func(name string) bool {
		return !isSecretField(name) || slices.ContainsFunc(secretFields, func(f secretField) bool { return f.name == name })
	})
}
