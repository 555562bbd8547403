package console

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// wanted is what somebody typed into the search box, in its parts.
type wanted struct {
	text        string // what is looked up; "" if only payments are asked for
	day         string // a day of Lagos, or "" for any
	least, most string // amounts, or "" for any
	// isMaybe is true if the text is a number that can be an amount or a reference.
	isMaybe bool
}

var (
	// amounts matches what can only be an amount: with ₦, a sign, commas, two decimals, or k or m at the end.
	amounts = regexp.MustCompile(`^([<>]=?)? ?(₦? ?[0-9][0-9,]*(?:\.[0-9]{1,2})?) ?([kKmM]?)$`)
	sure    = regexp.MustCompile(`[₦<>.,kKmM]`)
)

// maxDigits is the length of the longest number without a sign that is taken for an amount. Ten digits are an account number.
const maxDigits = 9

// wantedOf reads what somebody typed. A day narrows the rest. What remains is an amount, or the text to look up.
func wantedOf(text string, now time.Time) (w wanted, err error) {
	words := strings.Fields(text)
	words = slices.DeleteFunc(words, func(word string) bool {
		d := dayOf(word, now)
		if d != "" {
			w.day = d
		}
		return d != ""
	})
	w.text = strings.Join(words, " ")
	m := amounts.FindStringSubmatch(w.text)
	if m == nil {
		return w, nil
	}
	digits := strings.NewReplacer("₦", "", " ", "", ",", "").Replace(m[2])
	isSure := sure.MatchString(w.text)
	if !isSure && len(digits) > maxDigits {
		return w, nil
	}
	if strings.Contains(m[2], ",") && plain(strings.TrimSpace(strings.TrimPrefix(m[2], "₦"))) != digits {
		return w, fault.Newf(fault.Invalid, "%q is not an amount, such as 18,250.50.", w.text)
	}
	k, err := money.Parse(digits)
	times := map[string]money.Kobo{"": 1, "k": 1_000, "m": 1_000_000}[strings.ToLower(m[3])]
	if err != nil || k > money.Max/times {
		return w, fault.Newf(fault.Invalid, "%q is not an amount, such as 18,250.50.", w.text).Because(err)
	}
	w.least, w.most = rangeOf(m[1], k*times)
	w.isMaybe = !isSure
	if isSure {
		w.text = ""
	}
	return w, nil
}

// rangeOf returns the amounts that a sign before an amount means. Without a sign it is the amount alone.
func rangeOf(sign string, k money.Kobo) (least, most string) {
	switch sign {
	case ">":
		return (k + 1).Decimal(), ""
	case ">=":
		return k.Decimal(), ""
	case "<":
		return "", max(k-1, 0).Decimal()
	case "<=":
		return "", k.Decimal()
	}
	return k.Decimal(), k.Decimal()
}

// dayOf returns the day of Lagos that a word names, or "".
func dayOf(word string, now time.Time) string {
	today := now.In(lagos)
	switch strings.ToLower(word) {
	case "today":
		return today.Format(time.DateOnly)
	case "yesterday":
		return today.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	if d, err := time.Parse(time.DateOnly, word); err == nil {
		return d.Format(time.DateOnly)
	}
	return ""
}

// payments returns the address of the payments that are asked for.
func (w wanted) payments() string {
	q := url.Values{}
	for name, value := range map[string]string{"least": w.least, "most": w.most, "from": w.day, "to": w.day} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/console/payments?" + q.Encode()
}

// onDay returns the hits of the day. A hit without a time, such as a settlement account, stays.
func (w wanted) onDay(hits []admin.Hit) []admin.Hit {
	return slices.DeleteFunc(hits, func(h admin.Hit) bool {
		at := instant(optional(h.CreatedAt))
		return w.day != "" && !at.IsZero() && at.In(lagos).Format(time.DateOnly) != w.day
	})
}
