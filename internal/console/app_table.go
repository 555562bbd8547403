package console

import "github.com/kobo-waas/kobo/internal/money"

// cell is a cell of a table.
type cell struct {
	text string
	href string // of the link; "" for none
	kind string // of a chip; "" for a text
	when bool   // the text is an instant
	sum  bool   // the text is an amount: it stands at the right
	ref  bool   // the text is an identifier
	code bool   // the text is a code that developers copy
	note string // a code that explains a chip, which the table shows with its words
	one  bool   // the text stands on one line
	name string // what a link of an instant leads to, for somebody who does not see the row
}

func text(t string) cell           { return cell{text: t} }
func link(t, href string) cell     { return cell{text: t, href: href} }
func state(kind, word string) cell { return cell{text: word, kind: kind} }
func time_(t string) cell          { return cell{text: t, when: true} }
func sum(k money.Kobo) cell        { return cell{text: naira(k), sum: true} }
func reference(t string) cell      { return cell{text: t, ref: true} }

// table is a list of a company's things.
type table struct {
	title, item string
	tabs        []pageTab
	tab         string // the address of the open tab
	head        []string
	rows        [][]cell
	next        *string // the cursor of the next page, or nil
	nothing     string  // what the page says while there is nothing
	other       pageTab // where what somebody misses here may be; zero for nowhere
	above       component
	named       []string     // the keys of the rows, if the rows have less than all columns
	choice      columnChoice // of the columns; zero for a list without a choice
}

func (t table) view(v *visit) view {
	return view{title: t.title, item: t.item, body: tablePage(v, t), rows: t.keys()}
}

// keys returns what names each row: its link, or else its text.
func (t table) keys() []string {
	if t.named != nil {
		return t.named
	}
	out := make([]string, len(t.rows))
	for i, r := range t.rows {
		key := ""
		for _, c := range r {
			if c.href != "" {
				key = c.href
				break
			}
			key += c.text + " "
		}
		out[i] = key
	}
	return out
}
