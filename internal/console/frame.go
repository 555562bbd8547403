package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/admin"
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
	if v.Closed != nil && v.Closed() {
		out = append(out, "Maintenance mode: the companies' API is closed.")
	}
	if own && v.Restored != nil && v.Restored() {
		out = append(out, "The database was restored from a backup.")
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
		return v.URL.Path
	}
	return v.URL.RequestURI()
}

// back returns the page from which the person came, or the first page.
func (v *visit) back() string {
	from, err := url.Parse(v.Referer())
	if err != nil || from.Host != v.Host || !v.isOwn(from.Path) || from.Path == v.URL.Path && v.Method == "GET" {
		return v.at("/")
	}
	return from.RequestURI()
}

// page returns the address of another page of the same list.
func (v *visit) page(n int) string {
	q := v.URL.Query()
	q.Set("page", strconv.Itoa(n))
	return v.URL.Path + "?" + q.Encode()
}

// filter is a filter in the address of a list.
type filter struct{ name, value string }

// applied returns the filters in the address, without the place in the list.
func (v *visit) applied() (out []filter) {
	for _, name := range v.route.query {
		if value := v.URL.Query().Get(name); value != "" && name != "page" && name != "after" {
			out = append(out, filter{name, value})
		}
	}
	return out
}

// list is a page of a list of the operators' API.
type list[R any] struct {
	Data []R        `json:"data"`
	Meta admin.Meta `json:"meta"`
}
