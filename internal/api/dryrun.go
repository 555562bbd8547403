package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
)

// dryRun is the query parameter for a dry run, in which the operation only reports what would
// happen (completion.md §4.6).
const dryRun = "dry_run"

// isDry reports whether a request is a dry run. mayRun must have accepted the request before.
func isDry(r *http.Request) bool {
	return r.URL.RawQuery != "" && r.URL.Query().Get(dryRun) == "true"
}

// mayRun refuses a misspelled dry_run parameter, because a typing error must not move money. For
// the same reason, an operation that has no dry run refuses every value except false.
func mayRun(op *contract.Operation, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.URL.RawQuery == "" {
		return nil
	}
	asked, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil && isLike(dryRun, r.URL.RawQuery) {
		return slip(dryRun, "must be one of [true, false]") // ParseQuery leaves out a malformed pair
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

// isLike reports whether a text contains a name in any spelling, such as dryRun or dry-run.
func isLike(name, text string) bool {
	plain := strings.NewReplacer("_", "", "-", "")
	return strings.Contains(strings.ToLower(plain.Replace(text)), plain.Replace(name))
}

// slip returns the fault for one wrong parameter.
func slip(name, text string) *fault.Fault { return wrongFields([]string{name}, text) }

// wrongFields returns one fault for several wrong parameters. The endpoints of corporateFamily also
// show the names of these parameters in the error response.
func wrongFields(names []string, text string) *fault.Fault {
	var q query
	for _, name := range names {
		q.wrong(name, text)
	}
	f := fault.Of(q.fault())
	f.Extra = map[string]any{"fields": names}
	return f
}
