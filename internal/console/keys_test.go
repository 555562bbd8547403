package console_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

var menuLink = regexp.MustCompile(`<a href="([^"]+)"([^>]*)>([^<]+)`)

// Each item of both menus opens by g and a letter of its own, and the window of the key ? lists it.
func TestEachItemOfTheMenuHasAKey(t *testing.T) {
	w := open(t)
	for page, p := range map[string]*person{"/console/overview": w.add("grace", operator.Admin), "/app/home": w.seat(w.company.Reference, "ada", who.Owner)} {
		text := p.read(page)
		_, menu, _ := strings.Cut(text, `<nav class="side"`)
		menu, _, _ = strings.Cut(menu, "</nav>")
		_, help, _ := strings.Cut(text, `<dialog id="keys"`)
		letters := map[string]string{}
		for _, item := range menuLink.FindAllStringSubmatch(menu, -1) {
			label := strings.TrimSpace(item[3])
			key := regexp.MustCompile(`data-key="([a-z])"`).FindStringSubmatch(item[2])
			if key == nil {
				t.Errorf("%s has no key", item[1])
				continue
			}
			if other := letters[key[1]]; other != "" {
				t.Errorf("%s and %s have the key %s", other, label, key[1])
			}
			letters[key[1]] = label
			if want := "<kbd>g</kbd> <kbd>" + key[1] + "</kbd></dt><dd>" + label + "</dd>"; !strings.Contains(help, want) {
				t.Errorf("the window of the keys at %s lacks %s", page, want)
			}
		}
		if len(letters) != 7 {
			t.Errorf("%s has %d items with keys: %v", page, len(letters), letters)
		}
	}
}
