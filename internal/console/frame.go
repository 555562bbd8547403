package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/clock"
)

// wire returns an instant as the attribute datetime has it.
func wire(at time.Time) string { return clock.Text(at) }

// current marks the item of the menu that is shown.
func current(is bool) templ.Attributes {
	if !is {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}

// has reports whether the console serves a pattern.
func (c *console) has(pattern string) bool {
	_, exists := c.routes[pattern]
	return exists
}

// strips are the sentences across the top of every page. Nobody can close them.
func (v *visit) strips() (out []string) {
	own := v.base == operators.base // how operators work is nothing for a company's people
	if own && !v.FourEyes && v.Environment != "dev" {
		out = append(out, "Four eyes are off: one person alone can move money.")
	}
	if v.isClosed() && own {
		out = append(out, "Maintenance mode: the companies' API is closed.")
	} else if v.isClosed() {
		out = append(out, "Kobo is closed for maintenance: nothing new is sent. All pages can be read, and payments that have begun go on.")
	}
	if v.Restored != nil && v.Restored() {
		text := "The database was restored from a backup."
		if !own {
			text += " What happened last may be missing on these pages."
		}
		out = append(out, text)
	}
	return out
}

func (v *visit) environmentClass() string {
	if v.Environment == "live" {
		return "ok"
	}
	return "idle"
}

func (v *visit) environmentWords() string {
	text := strings.ToUpper(v.Environment)
	if ahead := v.ahead(); ahead > 0 {
		text += " · clock +" + age(ahead)
	}
	return text
}

// needsBehind counts what needs the person behind the item More of a phone's menu.
func (v *visit) needsBehind() (n int) {
	for _, i := range v.menu()[min(shownOnPhone, len(v.menu())):] {
		n += v.needs(i.key)
	}
	return n
}

// shownOnPhone is the number of items that a phone's menu shows beside More.
const shownOnPhone = 4

// theme returns the theme that the person has chosen. "" follows the browser.
func (v *visit) theme() string {
	c, err := v.Cookie(themeCookie)
	if err != nil || !slices.Contains(themes, c.Value) {
		return ""
	}
	return c.Value
}

// themeChoice is a theme that the switch offers.
type themeChoice struct{ theme, word, class string }

// themeChoices returns what the switch offers: first the contrary of what the device has, then the other theme, and then the
// device again. The style sheet hides the choice that would change nothing.
func (v *visit) themeChoices() []themeChoice {
	switch v.theme() {
	case "light":
		return []themeChoice{{"dark", "Switch to dark", ""}}
	case "dark":
		return []themeChoice{{"", "Follow the device", ""}}
	}
	return []themeChoice{{"dark", "Switch to dark", "on-light"}, {"light", "Switch to light", "on-dark"}}
}

// here returns the address of the page.
func (v *visit) here() string {
	if v.Method != "GET" {
		return v.back() // a refused form may stand at an address that only takes it
	}
	return v.URL.RequestURI()
}

// back returns the page from which the person came, or the first page.
func (v *visit) back() string {
	from, err := url.Parse(v.Referer())
	if err != nil || from.Host != v.Host || !v.isOwnPath(from.Path) || from.Path == v.URL.Path && v.Method == "GET" {
		return v.at("/")
	}
	return from.RequestURI()
}

// filter is a filter in the address of a list.
type filter struct{ name, value string }

// filterLabels are the words of filters whose name in the address is not a word of the screen.
var filterLabels = map[string]string{
	"kybStatus": "KYB", "least": "at least", "most": "at most", "externalReference": "own reference", "requestId": "request id", "idempotencyKey": "idempotency key",
	"action": "act", "settlementId": "account", "receiver": "received on", "tab": "list",
}

// label names the filter in the words of the screen.
func (f filter) label() string {
	if label, known := filterLabels[f.name]; known {
		return label
	}
	return words(f.name)
}

// shown returns the value in the words of the screen: the word of a choice, and a day as lists show it.
func (f filter) shown() string {
	var some []choice
	switch f.name {
	case "period":
		return "all time"
	case "kind":
		some = kindChoices
	case "state":
		some = slices.Concat(wordChoices, depositChoices)
	case "receiver":
		some = receiverChoices
	case "kybStatus":
		some = kybChoices()
	case "live":
		some = liveChoices
	case "reason", "status":
		return sentence(words(f.value))
	case "provider":
		return providerName(f.value)
	case "operator":
		return operatorWords(f.value)
	case "company":
		return ownerName("", f.value)
	}
	for _, c := range some {
		if c.value == f.value {
			return c.label
		}
	}
	return dayWord(f.value)
}

// shownOn is shown for a page, because a status of payments has other words than one of adjustments.
func (f filter) shownOn(v *visit) string {
	if f.name == "settlementId" {
		for _, c := range v.accounts.choices() {
			if c.value == f.value {
				return c.label
			}
		}
	}
	if f.name == "network" {
		return v.networkName(f.value)
	}
	if f.name == "status" && v.hasSpan() {
		states := slices.Concat(payoutStates, movementStates)
		if v.URL.Path == serviceTabs[1].path {
			states = purchaseStates
		}
		for _, c := range states {
			if c.value == f.value {
				return c.label
			}
		}
	}
	if f.name == "status" && v.URL.Path == "/console/money/adjustments" {
		_, word := adjustmentChip(f.value)
		return word
	}
	return f.shown()
}

// removal says what the chip of the filter does. The act of the audit log is a code, and a list has one such filter.
func (f filter) removal(v *visit) string {
	if f.name == "action" {
		return "Remove the filter " + f.label()
	}
	return "Remove the filter " + f.label() + " " + f.shownOn(v)
}

// dayWord returns a day of Lagos such as 2026-11-23 as Mon 23 Nov 2026, an instant with its time in Lagos, and any other
// text as it is.
func dayWord(text string) string {
	if d, err := time.Parse(time.DateOnly, text); err == nil {
		return d.Format("Mon 2 Jan 2006")
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.In(lagos).Format("Mon 2 Jan 2006, 15:04:05")
	}
	return text
}

// applied returns the filters in the address, without the place in the list.
func (v *visit) applied() (out []filter) {
	for _, name := range v.route.query {
		if value := v.URL.Query().Get(name); value != "" && name != "after" && (name != "period" || v.filter("from", "") == "" && v.filter("to", "") == "") {
			out = append(out, filter{name, value})
		}
	}
	return out
}

// isNarrowed reports whether the address narrows the list.
func (v *visit) isNarrowed() bool {
	return slices.ContainsFunc(v.applied(), func(f filter) bool { return f.name != "period" })
}

// cursorList is a page of a list of the operators' API, by cursor.
type cursorList[R any] struct {
	Data []R     `json:"data"`
	Next *string `json:"next"`
}
