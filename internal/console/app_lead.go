package console

import (
	"net/url"
	"slices"
	"strings"
)

// leading returns a row whose first cell has the row's link, named by the row's other words. The copy button of a reference
// takes the place of the link at the end.
func leading(r []cell) []cell {
	last := len(r) - 1
	if !r[0].when || r[0].href != "" || last < 1 || r[last].href == "" {
		return r
	}
	out := slices.Clone(r)
	for _, c := range r[1:last] {
		if c.kind == "" && !c.when && c.text != "" {
			out[0].name = strings.TrimSpace(out[0].name + " " + c.text)
		}
	}
	id := out[last].href[strings.LastIndex(out[last].href, "/")+1:]
	out[0].href = out[last].href
	if unescaped, err := url.PathUnescape(id); err == nil {
		out[last] = reference(unescaped)
	}
	return out
}
