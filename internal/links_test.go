package internal_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
)

// brokenLinks returns a complaint for each link from a page of the project to a file or a heading
// that does not exist.
func brokenLinks(texts map[string]string) (complaints []string) {
	for name, text := range texts {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			target := path.Join(path.Dir(name), file)
			if file == "" {
				target = name
			}
			switch page, there := texts[target]; {
			case strings.Contains(file, "://"):
			case !there && path.Ext(target) == "" && hasFolder(texts, target):
			case !there:
				complaints = append(complaints, name+": there is no "+m[1])
			case anchor != "" && !hasHeading(page, anchor):
				complaints = append(complaints, name+": there is no heading "+m[1])
			}
		}
	}
	return complaints
}

func hasFolder(texts map[string]string, folder string) bool {
	for name := range texts {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// hasHeading reports whether a page has the heading that a link's anchor names. An anchor is made
// from the heading by GitHub's rule.
func hasHeading(page, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		plain := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(plain, " ", "-") == anchor {
			return true
		}
	}
	return false
}

func TestNoLinkIsBroken(t *testing.T) {
	for _, wrong := range []string{"[a](b.md)", "[a](#b)", "[a](x.md#b)"} {
		if len(brokenLinks(map[string]string{"docs/x.md": "# A\n\n" + wrong})) != 1 {
			t.Errorf("%s is not found", wrong)
		}
	}
	for _, complaint := range brokenLinks(files(t)) {
		t.Error(complaint)
	}
}
