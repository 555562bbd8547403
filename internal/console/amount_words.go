package console

import (
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// wordsFrom is the amount from which a page that asks for a confirmation repeats it in words. A zero too many is hard
// to see in digits.
const wordsFrom = 1_000_000 * money.Naira

// inWords returns a large amount in words, such as "one million two hundred thousand naira", or "" for a small one.
// A part of a naira is said as cheques say it, such as "and 50/100".
func inWords(k money.Kobo) string {
	sign := ""
	if k < 0 {
		sign, k = "minus ", -k
	}
	if k < wordsFrom {
		return ""
	}
	says := sign + numberWords(int64(k/money.Naira)) + " naira"
	if part := k % money.Naira; part != 0 {
		says += fmt.Sprintf(" and %02d/100", int64(part))
	}
	return says
}

var (
	small = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens  = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
)

// numberWords returns a number that is not negative in words.
func numberWords(n int64) string {
	var out []string
	for _, group := range []struct {
		of   int64
		name string
	}{{1e18, "quintillion"}, {1e15, "quadrillion"}, {1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}, {1e3, "thousand"}, {100, "hundred"}} {
		if n >= group.of {
			out = append(out, numberWords(n/group.of), group.name)
			n %= group.of
		}
	}
	switch {
	case n >= 20 && n%10 != 0:
		out = append(out, tens[n/10]+"-"+small[n%10])
	case n >= 20:
		out = append(out, tens[n/10])
	case n > 0 || len(out) == 0:
		out = append(out, small[n])
	}
	return strings.Join(out, " ")
}
