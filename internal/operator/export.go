package operator

import (
	"context"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/id"
)

// Export is a file that somebody takes.
type Export struct {
	Action  string
	Subject string
	File    string            // the name of the file with its ending
	Query   string            // the filters, as in an address
	Details map[string]string // further ones, or nil
	// IsPersonal means that an operator takes personal data.
	IsPersonal bool
}

// Exported records that somebody takes a file. The caller sends nothing without the line. Each file is a line of its own: two equal
// ones within an hour are two files in two places.
func (s *Service) Exported(ctx context.Context, by Operator, x Export) error {
	if x.IsPersonal {
		s.personal.Inc()
	}
	ending := path.Ext(x.File)
	details := map[string]string{"file": strings.TrimSuffix(x.File, ending), "format": strings.TrimPrefix(ending, ".")}
	maps.Copy(details, x.Details)
	if filters := s.MaskQuery(x.Query); filters != "" {
		details["filters"] = filters
	}
	return s.write(ctx, by, x.Action, x.Subject, details)
}

// plainFilters are the filters whose values say nothing about a person.
var plainFilters = []string{"company", "kind", "state", "status", "word", "provider", "from", "to", "least", "most", "period", "settlementId", "receiver", "operator", "action", "bulk"}

// aContact matches a value that may be an e-mail address, a phone number, the number of an account or a BVN.
var aContact = regexp.MustCompile(`@|[0-9]{10}`)

// MaskQuery returns the filters of an address for the audit log, in their order and without the place in the list and the format. A value that
// may be about a person, such as an own reference, is a keyed hash, as in the line of a search.
func (s *Service) MaskQuery(query string) string {
	var out []string
	for pair := range strings.SplitSeq(query, "&") {
		values, err := url.ParseQuery(pair)
		if err != nil {
			continue // no filter: the page does not read it either
		}
		for name, value := range values {
			text := strings.Join(value, "")
			if text == "" || slices.Contains([]string{"after", "page", "pageSize", "format"}, name) {
				continue
			}
			if !slices.Contains(plainFilters, name) || name == "company" && !id.IsCuid(text) || name != "bulk" && aContact.MatchString(text) {
				text = s.Fingerprint(name, text)
			}
			out = append(out, url.QueryEscape(name)+"="+url.QueryEscape(text))
		}
	}
	return strings.Join(out, "&")
}
