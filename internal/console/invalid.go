package console

import (
	"bytes"
	"cmp"
	"context"
	"html"
	"io"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// A refused form names what is wrong in words such as `"amount" must be …` or `The url must be …`. This file puts the words at the field, marks the
// field for screen readers, and links the summary to the field. It works on the HTML of the whole page, so every form has it,
// and no form repeats it.

var (
	namedField = regexp.MustCompile(`^"([A-Za-z_][A-Za-z0-9_.-]*)"`)
	wordField  = regexp.MustCompile(`^The ([a-z]+(?: [a-z]+)?) (?:must|is)\b`)
	controls   = regexp.MustCompile(`<(input|select|textarea)\b[^>]*>`)
	problemOf  = regexp.MustCompile(`<li data-problem-of="([^"]*)">(.*?)</li>`)
	typeHidden = regexp.MustCompile(`\btype="hidden"`)
)

// fieldOf returns the name of the field that a line of a refusal names first, or "".
func fieldOf(line string) string {
	if m := namedField.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	if m := wordField.FindStringSubmatch(line); m != nil {
		return strings.ReplaceAll(m[1], " ", "_")
	}
	return ""
}

// marked returns the page of a refused form with each problem at its field.
func (v *visit) marked(page component) component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var whole bytes.Buffer
		if err := page.Render(ctx, &whole); err != nil {
			return err
		}
		text := whole.String()
		for _, line := range append([]string{v.problem.Message}, v.problem.Details...) {
			if name := fieldOf(line); name != "" {
				text = mark(text, cmp.Or(v.sentTo, v.URL.Path), name, line)
			}
		}
		_, err := io.WriteString(w, text)
		return err
	})
}

// mark puts the words of a problem behind the first visible control of a name, in the form that was sent to a path. A page
// without such a control stays as it is.
func mark(page, path, name, says string) string {
	from, to := formOf(page, path)
	for _, at := range controls.FindAllStringSubmatchIndex(page[from:to], -1) {
		begin, end := from+at[0], from+at[1]
		tag, kind := page[begin:end], page[from+at[2]:from+at[3]]
		if !strings.Contains(tag, ` name="`+html.EscapeString(name)+`"`) || typeHidden.MatchString(tag) || strings.Contains(tag, "aria-invalid") {
			continue
		}
		behind := end
		if kind != "input" {
			n := strings.Index(page[end:], "</"+kind+">")
			if n < 0 {
				return page
			}
			behind = end + n + len("</"+kind+">")
		}
		id := "why-" + html.EscapeString(name)
		page = page[:begin] + "<" + kind + ` aria-invalid="true" aria-errormessage="` + id + `"` + tag[1+len(kind):] + page[end:behind] +
			`<p class="help bad" id="` + id + `">` + html.EscapeString(says) + `</p>` + page[behind:]
		return problemOf.ReplaceAllStringFunc(page, func(li string) string {
			m := problemOf.FindStringSubmatch(li)
			if m[1] != html.EscapeString(name) || m[1] == "" {
				return li
			}
			return `<li><a href="#` + id + `">` + m[2] + `</a></li>`
		})
	}
	return page
}

// formOf returns where the form that was sent to a path begins and ends, or else the whole page. A form without an address
// is sent to the page's own.
func formOf(page, path string) (from, to int) {
	from = strings.Index(page, `action="`+html.EscapeString(path)+`"`)
	if from < 0 {
		if from = strings.Index(page, `<form method="post">`); from < 0 {
			return 0, len(page)
		}
	}
	n := strings.Index(page[from:], "</form>")
	if n < 0 {
		return 0, len(page)
	}
	return from, from + n
}
