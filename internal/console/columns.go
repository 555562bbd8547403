package console

import (
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/person"
)

// A list of payments has more columns than fit beside each other. Each person chooses which of them a list shows, and the choice is
// kept with the person.

// mostColumns is how many columns a list shows at most.
const mostColumns = 7

// column is a column of a list that has a choice of columns.
type column struct {
	key, head string
	usual     bool // the list shows it to somebody who has chosen nothing
}

// paymentColumns are the columns of the lists of payments, by the address of the list. The first column has the link of the row,
// so each list shows it. The last one is the reference.
var paymentColumns = map[string][]column{
	"/console/payments": {
		{"time", "When", true},
		{"what", "What", true},
		{"company", "Company", true},
		{"in", "In", true},
		{"out", "Out", true},
		{"fee", "Fee", false},
		{"state", "State", true},
		{"provider", "Provider", false},
		{"session", "Session id", false},
		{"own", "Own reference", false},
		{"reference", "Reference", true},
	},
	"/app/payouts": {
		{"time", "Time", true},
		{"to", "To", true},
		{"amount", "Amount", true},
		{"fee", "Fee", true},
		{"state", "State", true},
		{"narration", "Narration", false},
		{"session", "Session id", false},
		{"own", "Own reference", false},
		{"reference", "Reference", true},
	},
	"/app/money": {
		{"time", "Time", true},
		{"from", "From", true},
		{"account", "Received on", true},
		{"amount", "Amount", true},
		{"narration", "Narration", true},
		{"session", "Session id", false},
		{"customer", "Customer", false},
		{"reference", "Reference", true},
	},
	"/app/money/ledger": {
		{"time", "Time", true},
		{"what", "What", true},
		{"in", "In", true},
		{"out", "Out", true},
		{"fee", "Fee", false},
		{"balance", "Balance after", true},
		{"kind", "Kind", false},
		{"session", "Session id", false},
		{"own", "Own reference", false},
		{"reference", "Reference", true},
	},
	"/app/services/purchases": {
		{"time", "Time", true},
		{"what", "What", true},
		{"product", "Product", false},
		{"amount", "Amount", true},
		{"fee", "Fee", false},
		{"state", "State", true},
		{"own", "Own reference", false},
		{"reference", "Reference", true},
	},
}

// isSum reports whether the column has amounts, which stand at the right.
func (c column) isSum() bool { return slices.Contains([]string{"in", "out", "fee"}, c.key) }

// columnNames are the keys of columns as a setting stores them.
func columnNames(some []column) string {
	names := make([]string, len(some))
	for i, c := range some {
		names[i] = c.key
	}
	return strings.Join(names, ",")
}

// columns returns the columns of a list that the person sees, in the order of the list. A stored name that no column has any more
// is passed over.
func (v *visit) columns(list string) ([]column, error) {
	all := paymentColumns[list]
	chosen, err := v.People.Settings(v.Context(), v.who, person.Columns)
	if err != nil {
		return nil, err
	}
	usual := pick(all, func(c column) bool { return c.usual })
	for _, x := range chosen {
		if x.Name == list {
			names := strings.Split(x.Value, ",")
			if some := pick(all, func(c column) bool { return slices.Contains(names, c.key) }); len(some) > 1 {
				return some, nil
			}
		}
	}
	return usual, nil
}

// pick returns the first column and those that pass, at most mostColumns.
func pick(all []column, passes func(column) bool) (out []column) {
	for i, c := range all {
		if (i == 0 || passes(c)) && len(out) < mostColumns {
			out = append(out, c)
		}
	}
	return out
}

func (c *console) columnRoutes() map[string]route {
	return map[string]route{"POST " + c.at("/columns"): {do: chooseColumns, on: (*visit).columnsPage}}
}

// columnsPage returns the address of the list from which the form comes.
func (v *visit) columnsPage() string {
	list, to := v.field("list"), v.field("to")
	if path, _, _ := strings.Cut(to, "?"); path != list {
		return list
	}
	return to
}

// chooseColumns stores the columns that the person wants of a list.
func chooseColumns(v *visit) (string, error) {
	list := v.field("list")
	all, known := paymentColumns[list]
	if !known || !v.isOwn(list) {
		return "", fault.Newf(fault.Invalid, "No list with a choice of columns has the address %q.", list)
	}
	to := v.field("to")
	if !v.isOwn(to) {
		to = list
	}
	if v.PostForm.Has("usual") {
		return to, v.People.UsualColumns(v.Context(), v.who, list)
	}
	wanted := v.PostForm["column"]
	for _, name := range wanted {
		if !slices.ContainsFunc(all, func(c column) bool { return c.key == name }) {
			why := fault.Newf(fault.Invalid, "The list has no column with the name %q.", name)
			why.Details = strings.Split(columnNames(all), ",")
			return "", why
		}
	}
	some := []column{all[0]}
	for _, c := range all[1:] {
		if slices.Contains(wanted, c.key) {
			some = append(some, c)
		}
	}
	switch {
	case len(some) > mostColumns:
		return "", fault.Newf(fault.Invalid, "A list shows %d columns at most, with %s. You have chosen %d.", mostColumns, all[0].head, len(some))
	case len(some) < 2:
		return "", fault.Newf(fault.Invalid, "Choose a column beside %s.", all[0].head)
	}
	return to, v.People.ChooseColumns(v.Context(), v.who, list, columnNames(some))
}

// columnChoice is what the form of the columns shows.
type columnChoice struct {
	list  string
	shown []column
}

// has reports whether the form has a tick at a column. A refused form has the ticks with which it was sent.
func (c columnChoice) has(v *visit, one column) bool {
	if v.isRefused(v.at("/columns")) {
		return slices.Contains(v.PostForm["column"], one.key)
	}
	return slices.Contains(c.shown, one)
}

// choosing returns the table with the columns that the person has chosen. Its rows have a cell for each column of the list.
func (t table) choosing(v *visit, list string) (table, error) {
	shown, err := v.columns(list)
	if err != nil {
		return t, err
	}
	all := paymentColumns[list]
	t.named, t.choice = t.keys(), columnChoice{list, shown}
	t.head = nil
	for _, c := range shown {
		t.head = append(t.head, c.head)
	}
	last := all[len(all)-1]
	for n, r := range t.rows {
		var some []cell
		for i, c := range all {
			if slices.Contains(shown, c) || c == last { // the last cell has the link for the first one
				some = append(some, r[i])
			}
		}
		some = leading(some)
		t.rows[n] = some[:len(shown)]
	}
	return t, nil
}
