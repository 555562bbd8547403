package console

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/money"
)

// lagos is the zone of all times on pages. Nigeria has no summer time.
var lagos = time.FixedZone("Lagos", 60*60)

// naira returns an amount as pages show it, such as ₦1,284.50 or −₦10.75.
func naira(k money.Kobo) string {
	minus := ""
	text := k.Decimal()
	if rest, below := strings.CutPrefix(text, "-"); below {
		minus, text = "−", rest
	}
	whole, fraction, _ := strings.Cut(text, ".")
	return minus + "₦" + thousands(whole) + "." + fraction
}

// nairaOr returns an amount as pages show it, or a word for no amount.
func nairaOr(k *money.Kobo, none string) string {
	if k == nil {
		return none
	}
	return naira(*k)
}

// thousands separates the digits of a number by commas.
func thousands(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// count returns a number with its noun, such as "1 case" or "1,204 events".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(fmt.Sprint(n)) + " " + many
}

// instant reads an instant of the API. An unreadable one is zero, and pages show nothing for it.
func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// written matches an instant within a text, as the API writes it.
var written = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z`)

// spoken are amounts in a text of the API, such as 51000.00 naira, ₦51000.00 or fee 50.00.
var spoken = regexp.MustCompile(`-?\b[0-9]+(?:\.[0-9]{1,2})? naira\b|₦[0-9]+\.[0-9]{2}\b|\bfee [0-9]+\.[0-9]{2}\b`)

// inLagos returns a text with its instants in the time of Lagos and its amounts with separators, as pages show them.
func inLagos(text string) string {
	text = spoken.ReplaceAllStringFunc(text, func(one string) string {
		before := one[:len(one)-len(strings.TrimPrefix(one, "fee "))]
		k, err := money.Parse(strings.TrimPrefix(strings.TrimSuffix(one[len(before):], " naira"), "₦"))
		if err != nil {
			return one
		}
		return before + naira(k)
	})
	return written.ReplaceAllStringFunc(text, func(one string) string {
		if at := instant(one); !at.IsZero() {
			return at.In(lagos).Format("Mon 2 Jan 2006, 15:04")
		}
		return one
	})
}

// optional returns the text behind a pointer, or "".
func optional(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// day returns an instant as lists show it, such as "Sun 22 Nov, 03:12". The year stands there if it is
// not this year.
func day(at, now time.Time) string {
	at, now = at.In(lagos), now.In(lagos)
	if at.Year() != now.Year() {
		return at.Format("Mon 2 Jan 2006, 15:04")
	}
	return at.Format("Mon 2 Jan, 15:04")
}

// atTime returns the time of an instant within a sentence, such as "at 23:02:04" today, or else "on Sun 22 Nov, 23:02".
func atTime(at, now time.Time) string {
	if dayIn(at, now) == dayIn(now, now) {
		return "at " + at.In(lagos).Format(time.TimeOnly)
	}
	return "on " + day(at, now)
}

// dayIn returns the day of an instant, such as "Sun 22 Nov". The year stands there if it is not this year.
func dayIn(at, now time.Time) string {
	if at.In(lagos).Year() != now.In(lagos).Year() {
		return at.In(lagos).Format("Mon 2 Jan 2006")
	}
	return dayLabel(at)
}

// age returns a length of time as pages show it: 12 s, 24 min, 2 h 41 min or 3 d 4 h. It is never negative.
func age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 24*time.Hour:
		return strings.TrimSuffix(fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute), " 0 min")
	}
	return strings.TrimSuffix(fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour), " 0 h")
}

// until returns how long it is to an instant in the future, such as "in 4 min 12 s", or "now".
func until(d time.Duration) string {
	if d = max(d, 0); d < time.Second {
		return "now"
	} else if d >= time.Minute && d < time.Hour {
		return strings.TrimSuffix(fmt.Sprintf("in %d min %d s", d/time.Minute, d%time.Minute/time.Second), " 0 s")
	}
	return "in " + age(d)
}

// ending returns the end of an identifier. Identifiers of one hour begin alike, so the beginning says
// little.
func ending(id string) string {
	const shown = 12
	if len(id) <= shown+4 {
		return id
	}
	return "…" + id[len(id)-shown:]
}

// sentence returns a text with a capital at its beginning.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	_, first := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:first]) + text[first:]
}

// proofWord is the word on the button of a form that proves who a person is.
func proofWord(signsIn bool) string {
	if signsIn {
		return "Sign in"
	}
	return "Go on"
}

// passwordWord is the word on the button that opens the form for a password.
func passwordWord(has bool) string {
	if has {
		return "Set another password"
	}
	return "Set a password"
}

// crewTitle is the head of a list of people.
func crewTitle(people []admin.Operator) string {
	if len(people) == 1 {
		return "One person"
	}
	return strconv.Itoa(len(people)) + " people"
}

// named names a control that has no label beside it.
func named(label string) templ.Attributes {
	if label == "" {
		return nil
	}
	return templ.Attributes{"aria-label": label}
}

// browserOf names the browser that says that it is this one. The first name that fits is the most exact one,
// because browsers also name those that they resemble.
func browserOf(agent string) string {
	for _, one := range [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}} {
		if strings.Contains(agent, one[0]) {
			return one[1]
		}
	}
	return "A program"
}
