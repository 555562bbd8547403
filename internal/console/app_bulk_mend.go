package console

import (
	"cmp"
	"encoding/csv"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
)

// mending is a bulk payout whose lines somebody changes. The new bulk payout replaces it.
type mending struct {
	id    string
	lines string // as somebody types them
	bad   []badLine
}

// badLine is a line that somebody has to mend. It has a field of its own, because nobody finds line 157 among 300.
type badLine struct {
	number    int
	text, why string
}

func (l badLine) field() string { return "line-" + strconv.Itoa(l.number) }

// badOf is the further field of a refusal that has the bad lines.
const badOf = "bad"

// typedLines returns the lines of the form. If somebody has changed a line in its own field, the field counts.
func (v *visit) typedLines() []string {
	lines := strings.Split(v.PostForm.Get("lines"), "\n")
	for n := range lines {
		l := badLine{number: n + 1}
		if now := v.PostForm.Get(l.field()); v.PostForm.Has(l.field()) && now != v.PostForm.Get("was-"+l.field()) {
			lines[n] = now
		}
	}
	v.PostForm.Set("lines", strings.Join(lines, "\n")) // for the form, which comes back if a line is still bad
	return lines
}

// typedText are lines as somebody types them into a form.
type typedText []string

// mostEmpty is the largest number of empty lines that stand for what is between two lines of a file.
const mostEmpty = 5000

// add appends a line. Empty lines come before it, so that it has the number of its file in the form again. The forms skip
// empty lines, and count them.
func (t *typedText) add(number int, text string) {
	if missing := number - 1 - len(*t); missing > 0 && missing <= mostEmpty {
		*t = append(*t, make([]string, missing)...)
	}
	*t = append(*t, text)
}

// inField is a text as it stands within a textarea. Browsers leave out a line feed at its beginning.
func inField(text string) string {
	if strings.HasPrefix(text, "\n") || strings.HasPrefix(text, "\r\n") {
		return "\n" + text
	}
	return text
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
	m.id = v.filter("instead", v.PostForm.Get("instead"))
	if v.problem != nil {
		m.bad, _ = v.problem.Extra[badOf].([]badLine) // none, if the lines can be read
	}
	if m.id == "" || v.problem != nil {
		return m, nil
	}
	var lines typedText
	for after := 0; ; {
		var b one[bulk]
		if _, err := v.ask("GET", "/api/v1/settlement/bulk-payout/"+url.PathEscape(m.id)+"?limit=100&after="+strconv.Itoa(after), nil, &b); err != nil {
			return m, err
		}
		for _, l := range b.Data.Rows {
			if lines.add(l.number(), l.typed()); l.Verdict == "BAD" {
				m.bad = append(m.bad, badLine{len(lines), l.typed(), optional(l.Reason)})
			}
		}
		if b.Data.NextAfter == nil {
			m.lines = strings.Join(lines, "\n")
			return m, nil
		}
		after = *b.Data.NextAfter
	}
}

// replace cancels the bulk payout that a new one replaces, so that nobody sends both. The new one is open by then: if the API refuses it, the
// old one stays as it is. If the old one was sent meanwhile, the new one is cancelled instead.
//
// After a crash between the two, both wait, and nothing was sent. The same form, sent again, finds the new one by its Idempotency-Key and
// cancels the old one. If somebody sends both nevertheless, the page of the second one marks its lines as doubles.
func (v *visit) replace(by string) error {
	old := v.PostForm.Get("instead")
	if old == "" {
		return nil
	}
	err := stateInWords(v.cancelAs(old, "-instead"))
	if err == nil {
		return nil
	}
	if !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Missing) {
		return fault.New(fault.Unknown, "The new bulk payout waits. We do not know whether the old one waits too: look at both, and cancel one of them.").Because(err)
	}
	said := strings.TrimSuffix(fault.Of(err).Message, ".")
	if undone := v.cancelAs(by, "-undone"); undone != nil {
		return fault.Newf(fault.Unknown, "%s, so it could not be replaced. We do not know whether the new one was cancelled: look at it, and do not send both.", said).Because(errors.Join(err, undone))
	}
	return fault.Newf(fault.Conflict, "%s, so it could not be replaced. The new one was cancelled.", said).Because(err)
}

// cancelAs cancels a bulk payout. The key of the request is the number of the form and a word.
func (v *visit) cancelAs(id, word string) error {
	sub := *v
	sub.number = cmp.Or(v.number, v.PostForm.Get("form")) + word
	_, err := sub.ask(http.MethodPost, "/api/v1/settlement/bulk-payout/"+url.PathEscape(id)+"/cancel", nil, nil)
	return err
}
