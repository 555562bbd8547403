package console

import (
	"cmp"
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// mending is a bulk payout whose lines somebody changes. The new bulk payout replaces it.
type mending struct {
	id    string
	lines string   // as somebody types them
	bad   []string // the reason of each bad line, with its number
}

// typed is the line as somebody types it.
func (l bulkLine) typed() string {
	fields := []string{l.BankCode, l.AccountNumber, l.Amount.Decimal()}
	if narration, own := optional(l.Narration), optional(l.OwnReference); narration != "" || own != "" {
		if fields = append(fields, narration); own != "" {
			fields = append(fields, own)
		}
	}
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write(fields) // a strings.Builder takes everything
	w.Flush()
	return strings.TrimSuffix(text.String(), "\n")
}

// said is what the company has typed about the line. It stands below the bank's name, so that a wrong name is seen.
func (l bulkLine) said() string {
	words := []string{optional(l.Narration), optional(l.OwnReference)}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " · ")
}

// mended reads the lines of the bulk payout that the form replaces. It returns nothing if the form replaces none.
func (v *visit) mended() (m mending, err error) {
	if m.id = v.filter("instead", v.PostForm.Get("instead")); m.id == "" || v.problem != nil {
		return m, nil
	}
	var lines []string
	for after := 0; ; {
		var b one[bulk]
		if _, err := v.ask("GET", "/api/v1/settlement/bulk-payout/"+url.PathEscape(m.id)+"?limit=100&after="+strconv.Itoa(after), nil, &b); err != nil {
			return m, err
		}
		for _, l := range b.Data.Rows {
			if lines = append(lines, l.typed()); l.Verdict == "BAD" {
				m.bad = append(m.bad, "line "+strconv.Itoa(len(lines))+": "+optional(l.Reason))
			}
		}
		if b.Data.NextAfter == nil {
			m.lines = strings.Join(lines, "\n")
			return m, nil
		}
		after = *b.Data.NextAfter
	}
}

// replaced cancels the bulk payout that the new one replaces, so that nobody sends both. A bulk payout that was sent
// meanwhile refuses.
func (v *visit) replaced() error {
	id := v.PostForm.Get("instead")
	if id == "" {
		return nil
	}
	number := v.number
	defer func() { v.number = number }()
	v.number = cmp.Or(number, v.PostForm.Get("form")) + "-instead" // the new bulk payout has the number of the form
	_, err := v.ask(http.MethodPost, "/api/v1/settlement/bulk-payout/"+url.PathEscape(id)+"/cancel", nil, nil)
	return stateInWords(err)
}
