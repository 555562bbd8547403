package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
)

// dryRun is the parameter with which an operation only says what it would do
// (completion.md §4.6).
const dryRun = "dry_run"

// isDry tells whether a request that mayRun is a dry run.
func isDry(r *http.Request) bool { return r.URL.Query().Get(dryRun) == "true" }

// mayRun refuses whatever looks like a dry run and is none: a slip must not move
// money. So does an operation that knows no dry run: who asks for one does not
// want the real thing.
func mayRun(op *operation, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.URL.RawQuery == "" {
		return nil
	}
	asked, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil && isLike(dryRun, r.URL.RawQuery) {
		return slip(dryRun, "must be one of [true, false]") // a pair that no parser would show us
	}
	_, isKnown := op.Find(dryRun)
	for name, values := range asked {
		switch {
		case name != dryRun && isLike(dryRun, name):
			return slip(name, "is not allowed")
		case name != dryRun:
		case !isKnown && !slices.Equal(values, []string{"false"}):
			return slip(name, "is not allowed")
		case len(values) != 1 || values[0] != "true" && values[0] != "false":
			return slip(name, "must be one of [true, false]")
		}
	}
	return nil
}

// isLike tells whether a text has a name in it, however that is written: dryRun,
// dry-run.
func isLike(name, text string) bool {
	plain := strings.NewReplacer("_", "", "-", "")
	return strings.Contains(strings.ToLower(plain.Replace(text)), plain.Replace(name))
}

func slip(name, text string) error {
	var q query
	q.wrong(name, text)
	f := fault.Of(q.fault())
	f.Extra = map[string]any{"fields": []string{name}} // one dress names the fields
	return f
}
