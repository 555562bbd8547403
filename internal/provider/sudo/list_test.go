package sudo

import (
	"fmt"
	"strings"
	"testing"
)

// A credit in the last hour before a debit may return an earlier debit, which is on the next page. The money then left once.
func TestTheReturnOfAnEarlierDebitIsNotThatOfTheLastOne(t *testing.T) {
	page := func(at string, lines ...string) string {
		rows := strings.Repeat(`{"_id":"","createdAt":"`+at+`"},`, pageSize-len(lines))
		return `200 {"data":[` + strings.Join(append(lines, rows[:len(rows)-1]), ",") + `],"pagination":{"pages":"9"}}`
	}
	entry := func(id, kind, at string) string {
		return fmt.Sprintf(`{"_id":%q,"type":%q,"paymentReference":%q,"amount":5000,"status":"Completed","createdAt":%q}`, id, kind, reference, at)
	}
	first := page("2030-01-02T05:00:00.000Z", entry("t3", "Debit", "2030-01-02T06:00:00.000Z"), entry("t2", "Credit", "2030-01-02T05:30:00.000Z"))
	middle, last := page("2030-01-02T04:00:00.000Z"), page("2030-01-01T00:00:00.000Z", entry("t1", "Debit", "2030-01-02T01:00:00.000Z"))
	for name, c := range map[string]struct {
		answers []string
		want    string
	}{
		"with the earlier debit":    {[]string{first, middle, first, middle, last}, "confirmed t3"},
		"without the earlier debit": {[]string{first, middle, first, middle, page("2030-01-01T00:00:00.000Z")}, "unknown "},
		"the rest is not read":      {[]string{first, middle, first, `503 {}`}, "unknown "},
	} {
		_, p := serve(t, nil, c.answers...)
		a := p.RequeryFunding(t.Context(), funding())
		if got := a.Outcome.String() + " " + a.Reference; got != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, c.want, a)
		}
	}
}

// Sudo may send fewer lines than the page was asked for. Without its count of pages only an empty page ends a list.
func TestAShortPageIsNotTheEndOfAList(t *testing.T) {
	short := `200 {"data":[` + strings.TrimSuffix(strings.Repeat(`{"_id":"","createdAt":"2030-01-03T00:00:00.000Z"},`, 25), ",") + `]}`
	paid := line("Debit", "paymentReference", reference, "5000", "Completed")
	for name, c := range map[string]struct {
		answers []string
		want    string
	}{
		"on the next page":         {[]string{short, `200 {"data":[` + paid + `]}`, `200 {"data":[]}`}, "confirmed false"},
		"on no page":               {[]string{short, short, `200 {"data":[]}`}, "unknown true"},
		"the pages have no end":    {[]string{short}, "unknown false"},
		"by the number of pages":   {[]string{strings.Replace(short, `]}`, `],"pagination":{"pages":2}}`, 1), listed(paid)}, "confirmed false"},
		"an empty page in between": {[]string{strings.Replace(short, `]}`, `],"pagination":{"pages":3}}`, 1), `200 {"data":[],"pagination":{"pages":3}}`, listed(paid)}, "unknown false"},
	} {
		_, p := serve(t, func(c *Config) { c.CompleteList = true }, c.answers...)
		a := p.RequeryFunding(t.Context(), funding())
		if got := fmt.Sprint(a.Outcome, " ", a.Missing); got != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, c.want, a)
		}
	}
	for name, c := range map[string]struct {
		answers []string
		want    string
	}{
		"two short pages":   {[]string{`200 {"data":[{"_id":"c1"}]}`, `200 {"data":[{"_id":"c2"}]}`, `200 {"data":[]}`}, "2 true"},
		"the same page":     {[]string{`200 {"data":[{"_id":"c1"}]}`}, "1 true"},
		"pages are missing": {[]string{`200 {"data":[{"_id":"c1"}],"pagination":{"pages":3}}`, `200 {"data":[],"pagination":{"pages":3}}`}, "0 false"},
	} {
		_, p := serve(t, nil, c.answers...)
		cards, err := p.Cards(t.Context(), "u1")
		if got := fmt.Sprint(len(cards), " ", err == nil); got != c.want {
			t.Errorf("cards, %s: %s, want %s (%v)", name, got, c.want, err)
		}
	}
}
