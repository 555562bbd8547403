package console_test

import (
	"html"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/console"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

var (
	tagOf     = regexp.MustCompile(`<(/?)([a-z0-9]+)([^>]*)>`)
	spokenOf  = regexp.MustCompile(`(?:aria-label|placeholder|data-label|alt)="([^"]+)"`)
	copyOf    = regexp.MustCompile(`data-copy=`)
	notSpoken = []string{"code", "pre", "script", "style", "textarea"}
)

// prose returns what a page says: its texts, and those that a screen reader or an empty field says. It leaves out what stands there as
// code, and the buttons that copy a code.
func prose(page string) (out []string) {
	var code []string // the open elements that hold code
	last := 0
	add := func(text string) {
		if text = strings.Join(strings.Fields(html.UnescapeString(text)), " "); text != "" && len(code) == 0 {
			out = append(out, text)
		}
	}
	for _, m := range tagOf.FindAllStringSubmatchIndex(page, -1) {
		add(page[last:m[0]])
		last = m[1]
		closes, name, rest := m[3] > m[2], page[m[4]:m[5]], page[m[6]:m[7]]
		isCode := slices.Contains(notSpoken, name) || name != "input" && strings.Contains(rest, "mono")
		switch {
		case closes && len(code) > 0 && code[len(code)-1] == name:
			code = code[:len(code)-1]
		case !closes && (isCode || len(code) > 0 && code[len(code)-1] == name):
			code = append(code, name)
		case copyOf.MatchString(rest):
		default:
			for _, a := range spokenOf.FindAllStringSubmatch(rest, -1) {
				add(a[1])
			}
		}
	}
	add(page[last:])
	return out
}

// raw are codes of the program that are no words of people: names with an underscore, names of fields, ledger accounts, who acted, names
// of events and acts, and codes of providers.
var raw = []*regexp.Regexp{
	regexp.MustCompile(`[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+`),
	regexp.MustCompile(`\b[a-z]{3,}(?:[A-Z][a-z]+)+\b`),
	regexp.MustCompile(`\b(?:settlement|clearing|provider|charge)/[a-z0-9]+`),
	regexp.MustCompile(`\b(?:local|person|program|company|key):[a-z0-9]\S*`),
	regexp.MustCompile(`\b(?:adjustment|card|case|company|corporate|crypto|customer|kyb|operation|operator|payout|settlement|transaction|vtu|webhook)\.[a-z]+`),
	regexp.MustCompile(`\b(?:safehaven|vtpass|sudo|tatum|vtu|xpub)\b`),
	regexp.MustCompile(`\b[a-z]+-(?:mainnet|testnet|sepolia|amoy|shasta|nile|hoodi)\b`),
}

// plain are texts that look like codes, and are none.
var plain = []string{
	"accepted", "case", // what rungs of the outcome's clock say
	"dev", // the operator
	"all", "open", "unknown", "refused", "timeout", "none", "expires",
}

var enum = regexp.MustCompile(`enum: \[([^\]]+)\]`)

// codes are the values of the two APIs that have a closed list.
func codes(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, file := range []string{"../api/openapi.yaml", "../admin/openapi.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range enum.FindAllStringSubmatch(string(text), -1) {
			for _, one := range strings.Split(list[1], ",") {
				out[strings.Trim(one, ` '"`)] = true
			}
		}
	}
	if len(out) < 100 {
		t.Fatalf("only %d codes were found", len(out))
	}
	return out
}

// ended matches the end of an identifier or of an API key, which may look like anything.
var ended = regexp.MustCompile(`…\S+`)

var shouted = regexp.MustCompile(`\b[A-Z]{4,}\b`)

// rawIn returns the first code that a text says as if it were a word of people, or "". A code in capitals is one as a word. Another one
// is a code where it is the whole text.
func rawIn(text string, codes map[string]bool) string {
	if slices.Contains(plain, text) {
		return ""
	}
	text = ended.ReplaceAllString(text, "")
	if codes[text] && text == strings.ToLower(text) {
		return text
	}
	for _, one := range shouted.FindAllString(text, -1) {
		if codes[one] && one != http.MethodPost && one != http.MethodDelete {
			return one
		}
	}
	for _, r := range raw {
		if found := r.FindString(text); found != "" {
			return found
		}
	}
	return ""
}

// walk reads all pages to which links lead from the first ones, some of each kind, and checks what they say.
func (p *person) walk(below string, paths []string, codes map[string]bool) (walked int) {
	p.t.Helper()
	const most = 12 // of one kind
	kinds, seen := map[string]int{}, map[string]bool{}
	for n := 0; n < len(paths); n++ {
		g := p.get(paths[n])
		if g.status != http.StatusOK || !strings.HasPrefix(g.header.Get("Content-Type"), "text/html") {
			continue
		}
		walked++
		for _, text := range prose(g.text) {
			if code := rawIn(text, codes); code != "" && !seen[code+text] {
				seen[code+text] = true
				p.t.Errorf("%s says %q in %q", paths[n], code, text)
			}
		}
		for _, found := range links.FindAllStringSubmatch(g.text, -1) {
			link := html.UnescapeString(found[1])
			bare, query, _ := strings.Cut(link, "?")
			kind := named.ReplaceAllString(bare, "/*") + valued.ReplaceAllString(query, "=")
			if strings.HasPrefix(link, below) && !strings.Contains(found[0], "download") && !seen[link] && kinds[kind] < most {
				seen[link] = true
				kinds[kind]++
				paths = append(paths, link)
			}
		}
	}
	return walked
}

// inStates adds companies whose verification has not ended. It returns a person of each.
func (w *world) inStates() (out []*person) {
	w.t.Helper()
	by := operator.Local("test")
	for name, way := range map[string][]company.KYB{
		"Not Begun": nil, "Begun": {company.InProgress}, "Checked": {company.InProgress, company.Submitted},
		"Changes": {company.InProgress, company.Submitted, company.ChangesRequested}, "Rejected": {company.InProgress, company.Submitted, company.Rejected},
	} {
		c, _, err := w.app.Companies.Create(w.t.Context(), by, name)
		for _, to := range way {
			if err == nil {
				_, err = w.app.Companies.SetKYB(w.t.Context(), by, c.Reference, to, "test")
			}
		}
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, w.seat(c.Reference, "olu", who.Owner))
	}
	return out
}

// No page of either side says a code of the program as if it were a word of people. The database has everything that Kobo writes.
func TestPagesSayWordsAndNoCodes(t *testing.T) {
	t.Parallel()
	w := openOn(t, apptest.Filled(t, db.SQLite, slices.Max(apptest.FilledSchemas(t, db.SQLite))))
	all := codes(t)
	ada, bola := w.seat(w.company.Reference, "ada2", who.Owner), w.seat(w.company.Reference, "bola", who.Finance)
	planted := w.plantPrivate(ada, bola)
	first := slices.Clone(appPages)
	for _, pattern := range slices.Sorted(maps.Keys(planted)) {
		if !slices.Contains(console.AppFiles(), pattern) {
			first = append(first, planted[pattern]...)
		}
	}
	for _, page := range slices.Clone(first) {
		if !strings.Contains(page, "?") {
			first = append(first, page+"?period=all")
		}
	}
	for _, olu := range w.inStates() {
		olu.walk("/app/", []string{"/app/settings", "/app/settings/verification", "/app/home"}, all)
	}
	if n := bola.walk("/app/", first, all); n < 150 {
		t.Errorf("only %d pages of the company were read", n)
	}
	if n := w.signIn("dev").walk("/console/", append(slices.Clone(pages), "/console/payments?period=all", "/console/payments/crypto?period=all"), all); n < 250 {
		t.Errorf("only %d pages of operators were read", n)
	}
}
