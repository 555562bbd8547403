// Command guides renders the guides in internal/guide/text, and tries them. Run it as
//
//	go -C tools run ./guides             # renew the snippets in text, and write the pages in site
//	go -C tools run ./guides -try KOBO   # run the shell blocks of each guide against this binary
//
// A block whose info string is "LANGUAGE FILE#NAME" is a snippet: the lines of FILE, a path in the
// repository, between "snippet NAME" and "end snippet" in comments. The tests of FILE run the code.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
)

// names are the guides in the order of the navigation.
var names = []string{"quick-start", "typescript", "money", "retries", "webhooks", "testing", "going-live", "errors"}

// guide is one page.
type guide struct {
	Name, Title string
	text        []byte
}

func main() {
	kobo := flag.String("try", "", "run the shell blocks against this `BINARY`")
	root := flag.String("root", "..", "the `FOLDER` of the repository")
	flag.Parse()
	if err := run(*root, *kobo); err != nil {
		fmt.Fprintln(os.Stderr, "guides:", err)
		os.Exit(1)
	}
}

func run(root, kobo string) error {
	var guides []guide
	for _, name := range names {
		g, err := read(root, name)
		if err != nil {
			return err
		}
		guides = append(guides, g)
	}
	if kobo != "" {
		binary, err := filepath.Abs(kobo)
		if err != nil {
			return err
		}
		for _, g := range guides {
			if err := try(binary, g); err != nil {
				return fmt.Errorf("%s: %w", g.Name, err)
			}
		}
		return nil
	}
	for _, g := range guides {
		if err := write(root, g, guides); err != nil {
			return err
		}
	}
	return nil
}

// read returns a guide with its snippets renewed.
func read(root, name string) (guide, error) {
	text, err := os.ReadFile(filepath.Join(root, "internal/guide/text", name+".md"))
	if err != nil {
		return guide{}, err
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	title, ok := strings.CutPrefix(string(first), "# ")
	if !ok {
		return guide{}, fmt.Errorf("%s.md does not begin with a title", name)
	}
	var failed error
	text = fence.ReplaceAllFunc(text, func(block []byte) []byte {
		part := fence.FindSubmatch(block)
		language, source, ok := strings.Cut(string(part[1]), " ")
		if !ok || source == noRun {
			return block
		}
		lines, err := snippet(root, source)
		failed = errors.Join(failed, err)
		return []byte("```" + language + " " + source + "\n" + lines + "```\n")
	})
	return guide{Name: name, Title: title, text: text}, failed
}

// fence matches a block of code: its info string and its lines.
var fence = regexp.MustCompile("(?ms)^```([^\n]+)\n(.*?)^```\n")

// noRun marks a shell block that try leaves out.
const noRun = "no-run"

// snippet returns the lines of FILE#NAME without their common indent.
func snippet(root, source string) (string, error) {
	file, name, _ := strings.Cut(source, "#")
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	region := regexp.MustCompile(`(?ms)^[^\n]*\bsnippet ` + regexp.QuoteMeta(name) + `$\n(.*?)^[^\n]*\bend snippet$`)
	found := region.FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s has no snippet %q", file, name)
	}
	lines := strings.SplitAfter(string(found[1]), "\n")
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " \t"))
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, lines[0][:indent])
	}
	return strings.Join(lines, ""), nil
}

// write writes the page of a guide, and its text with the renewed snippets.
func write(root string, g guide, all []guide) error {
	mark := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))
	var body, page bytes.Buffer
	if err := mark.Convert(g.text, &body); err != nil {
		return err
	}
	linked := localLink.ReplaceAllString(body.String(), `href="$1$2"`)
	data := struct {
		guide
		All  []guide
		Body template.HTML
	}{g, all, template.HTML(linked)} //nolint:gosec // the text is ours
	if err := frame.Execute(&page, data); err != nil {
		return err
	}
	folder := filepath.Join(root, "internal/guide")
	if err := os.MkdirAll(filepath.Join(folder, "site"), 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "text", g.Name+".md"), g.text, 0o644),
		os.WriteFile(filepath.Join(folder, "site", g.Name+".html"), page.Bytes(), 0o644))
}

// localLink matches a link to another guide.
var localLink = regexp.MustCompile(`href="([a-z-]+)\.md(#[a-z0-9-]+)?"`)

var frame = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}} – Kobo</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/guides/style.css">
</head>
<body>
<nav aria-label="Guides">
<a class="brand" href="/docs/guides/quick-start">Kobo</a>
<ul>
{{- range .All}}
<li><a href="/docs/guides/{{.Name}}"{{if eq .Name $.Name}} aria-current="page"{{end}}>{{.Title}}</a></li>
{{- end}}
<li><a href="/docs">API reference</a></li>
</ul>
</nav>
<main>
{{.Body}}</main>
</body>
</html>
`))
