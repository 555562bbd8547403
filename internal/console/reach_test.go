package console_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/console"
	who "github.com/kobo-waas/kobo/internal/person"
)

// unlinked are the pages to which no link leads: where people sign in, where a form leads whose card the issuer has not made yet, streams,
// and the proof between two checkpoints of which a new company has one.
var unlinked = []string{"/sign-in", "/asked", "/live/", "/consistency"}

// sentTo matches the address of a form.
var sentTo = regexp.MustCompile(`<form [^>]*action="([^"]+)"`)

// A page that no link leads to does not exist for its people. So somebody who begins at the first page, and follows links
// and forms, meets every page and every file of the side that has one address for all.
func TestLinksLeadToEveryPage(t *testing.T) {
	t.Parallel()
	w := open(t)
	for below, p := range map[string]*person{"/console/": w.signIn("dev"), "/app/": w.seat(w.company.Reference, "ada", who.Owner)} {
		met, paths := map[string]bool{}, []string{below}
		for n := 0; n < len(paths) && n < 400; n++ {
			text := p.get(paths[n]).text
			for _, found := range sentTo.FindAllStringSubmatch(text, -1) {
				met[html.UnescapeString(found[1])] = true
			}
			for _, found := range links.FindAllStringSubmatch(text, -1) {
				link := html.UnescapeString(found[1])
				bare, _, _ := strings.Cut(link, "?")
				if strings.HasPrefix(link, below) && !met[bare] {
					met[bare] = true
					if !strings.Contains(found[0], "download") {
						paths = append(paths, link)
					}
				}
			}
		}
		for _, pattern := range append(console.Patterns(), console.AppPatterns()...) {
			path, isPage := strings.CutPrefix(pattern, "GET ")
			if !isPage || !strings.HasPrefix(path, below) || path == below || strings.Contains(path, "{") || met[path] {
				continue
			}
			if !slices.ContainsFunc(unlinked, func(part string) bool { return strings.Contains(path, part) }) {
				t.Errorf("no link leads to %s", path)
			}
		}
	}
}
