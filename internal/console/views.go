package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/person"
)

// A saved view is the address of a list with its filters, under a name of the person's own. Everybody who may read the list can open
// the address, so a view is shared by sending it.

// maxViewName is the longest name of a saved view in characters.
const maxViewName = 60

// savedView is a view that a person has saved.
type savedView struct{ name, address string }

// filters are the names of the filters of a page.
func (r route) filters() []string {
	return slices.DeleteFunc(slices.Clone(r.query), func(name string) bool { return name == "after" })
}

// isSavable reports whether a page is a list with filters.
func (r route) isSavable() bool {
	filters := r.filters()
	isPeriod := slices.Contains(filters, "from") && slices.Contains(filters, "to")
	return r.show != nil && !r.open && len(filters) > 0 && (r.isList() || isPeriod)
}

// errNoView refuses an address that is no list with filters. Among these are the answers of a search.
var errNoView = fault.New(fault.Invalid, "Only a list with filters can be saved.")

// viewAddress returns the address of a view: the list and its filters, without the place in the list.
func (v *visit) viewAddress(address string) (string, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host != "" || at.Scheme != "" || !v.isOwnPath(at.Path) || len(address) > maxAddress {
		return "", errNoView
	}
	_, pattern := v.mux.Handler(&http.Request{Method: http.MethodGet, Host: v.Host, URL: &url.URL{Path: at.Path}})
	to, known := v.routes[pattern]
	if !known || !to.isSavable() {
		return "", errNoView
	}
	kept := url.Values{}
	for name, values := range at.Query() {
		switch {
		case name == "after" || values[0] == "":
		case !slices.Contains(to.filters(), name):
			return "", fault.Newf(fault.Invalid, "The list knows no filter with the name %q.", name)
		default:
			kept.Set(name, values[0])
		}
	}
	if len(kept) == 0 {
		return at.EscapedPath(), nil
	}
	return at.EscapedPath() + "?" + kept.Encode(), nil
}

// maxAddress is the longest address that is saved.
const maxAddress = 1_000

// views returns the views that the person has saved, by name. The address of a view whose list is gone is "".
func (v *visit) views() ([]savedView, error) {
	all, err := v.People.Settings(v.Context(), v.who, person.SavedView)
	out := make([]savedView, len(all))
	for i, x := range all {
		out[i].name = x.Name
		if address, why := v.viewAddress(x.Value); why == nil {
			out[i].address = address
		}
	}
	return out, err
}

// viewsHere are the saved views of the list that the page shows.
func (v *visit) viewsHere() (out []savedView) {
	for _, one := range v.saved {
		if path, _, _ := strings.Cut(one.address, "?"); path == v.URL.EscapedPath() {
			out = append(out, one)
		}
	}
	return out
}

// isShown reports whether the page shows the view.
func (v *visit) isShown(one savedView) bool {
	address, err := v.viewAddress(v.URL.RequestURI())
	return err == nil && address == one.address
}

func (c *console) viewRoutes() map[string]route {
	return map[string]route{
		"POST " + c.at("/views"):        {do: saveView, on: (*visit).viewPage},
		"POST " + c.at("/views/rename"): {show: showMe, do: renameView},
		"POST " + c.at("/views/remove"): {show: showMe, do: removeView},
	}
}

// viewName returns the name that somebody has typed for a view.
func (v *visit) viewName() (string, error) {
	name := v.field("name")
	if n := utf8.RuneCountInString(name); n == 0 || n > maxViewName || strings.ContainsFunc(name, unicode.IsControl) {
		return "", fault.Newf(fault.Invalid, "A saved view has a name of 1 to %d characters.", maxViewName)
	}
	return name, nil
}

// saveView saves the list from which the form comes.
func saveView(v *visit) (string, error) {
	name, err := v.viewName()
	if err != nil {
		return "", err
	}
	address, err := v.viewAddress(v.field("to"))
	if err != nil {
		return "", err
	}
	return address, v.People.SaveView(v.Context(), v.who, name, address)
}

// viewPage returns the address of the list from which the form of a view comes, or "".
func (v *visit) viewPage() string {
	if _, err := v.viewAddress(v.field("to")); err != nil {
		return ""
	}
	return v.field("to")
}

func renameView(v *visit) (string, error) {
	name, err := v.viewName()
	if err != nil {
		return "", err
	}
	return v.at("/me"), v.People.RenameView(v.Context(), v.who, v.PostForm.Get("view"), name)
}

func removeView(v *visit) (string, error) {
	return v.at("/me"), v.People.RemoveView(v.Context(), v.who, v.PostForm.Get("view"))
}
