// Command notices lists the foreign software in Kobo's binaries. Run it as
//
//	go -C tools run ./notices              # write THIRD_PARTY_NOTICES
//	go -C tools run ./notices -sbom V      # print the CycloneDX document of version V
//
// It lists the Go modules that the binary of at least one released platform contains, Go itself, and
// the scripts in internal/api/reference and internal/console/assets. The licences of the modules come
// from Go's module cache, those of the reference's scripts from scalar.json, and those of the console's
// scripts from internal/console/licences. The same commit always has the same output.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are the released platforms. The Makefile has the same list.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// part is a piece of foreign software.
type part struct {
	name, version string // the version is "" if it is not known
	purl          string // the package's URL, as in the package-url specification
	sum           string // the sum in go.sum; "" for a part that is no module
	license       string // an SPDX expression
	author        string
	texts         []string
}

func main() {
	sbom := flag.String("sbom", "", "print the CycloneDX document of this version instead of writing THIRD_PARTY_NOTICES")
	flag.Parse()
	if err := run(*sbom); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(sbom string) error {
	all, err := modules()
	if err != nil {
		return err
	}
	scripts, err := scripts()
	if err != nil {
		return err
	}
	pages, err := pages()
	if err != nil {
		return err
	}
	all = append(append(all, scripts...), pages...)
	if sbom == "" {
		return os.WriteFile("../THIRD_PARTY_NOTICES", notices(all), 0o644) //nolint:gosec // everybody may read it
	}
	text, err := json.MarshalIndent(document(sbom, all), "", "  ")
	if err == nil {
		_, err = fmt.Println(string(text))
	}
	return err
}

// modules returns Go itself and the modules in the binaries, in the order of their paths.
func modules() ([]part, error) {
	found := map[string]part{}
	for _, platform := range platforms {
		system, machine, _ := strings.Cut(platform, "/")
		c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Sum}} {{.Dir}}{{end}}{{end}}", "./cmd/kobo")
		c.Dir, c.Stderr = "..", os.Stderr
		c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", platform, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) == 0 || found[f[0]].name != "" {
				continue
			}
			if len(f) != 4 {
				return nil, fmt.Errorf("not a module: %q", line)
			}
			p := part{name: f[0], version: f[1], sum: f[2], purl: "pkg:golang/" + f[0] + "@" + f[1]}
			if p.texts, err = texts(f[3]); err == nil {
				p.license, err = spdx(p.texts)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f[0], err)
			}
			found[f[0]] = p
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	c := exec.Command("go", "list", "-m", "-f", "{{.GoVersion}}") // releases are built with this version
	c.Dir = ".."
	own, err := c.Output()
	if err != nil {
		return nil, err
	}
	text, err := texts(strings.TrimSpace(string(root)))
	version := strings.TrimSpace(string(own))
	found["std"] = part{name: "std", version: version, purl: "pkg:golang/std@" + version, license: "BSD-3-Clause", author: "The Go Authors", texts: text}
	return slices.SortedFunc(maps.Values(found), func(a, b part) int { return cmp.Compare(a.name, b.name) }), err
}

var isLicense = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// texts returns the texts about licences in a folder.
func texts(folder string) (out []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if err != nil || e.IsDir() || !isLicense.MatchString(e.Name()) || strings.Contains(e.Name(), "LOGO") {
			continue
		}
		var text []byte
		text, err = os.ReadFile(filepath.Join(folder, e.Name()))
		out = append(out, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	if err == nil && len(out) == 0 {
		err = errors.New("no licence file")
	}
	return out, err
}

// signs are texts that occur in one licence only, with the licence's SPDX identifier.
var signs = []struct{ id, text, without string }{
	{"Apache-2.0", "Apache License", ""},
	{"MPL-2.0", "Mozilla Public License Version 2.0", ""},
	{"MIT", "Permission is hereby granted, free of charge", ""},
	{"ISC", "Permission to use, copy, modify, and", ""},
	{"BSD-3-Clause", "Redistribution and use in source and binary forms", "BSD-2-Clause"},
	{"Unlicense", "released into the public domain", ""},
}

// spdx returns the SPDX expression of licence texts.
func spdx(texts []string) (string, error) {
	all := strings.Join(strings.Fields(strings.Join(texts, "\n")), " ")
	var ids []string
	for _, s := range signs {
		if !strings.Contains(all, s.text) {
			continue
		}
		if s.without != "" && !strings.Contains(all, "either the name") && !strings.Contains(all, "names of its contributors") {
			s.id = s.without
		}
		ids = append(ids, s.id)
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("an unknown licence: %.200s", all)
	}
	return strings.Join(ids, " AND "), nil
}

// scripts returns the packages that are bundled in the scripts of internal/api/reference.
func scripts() (out []part, err error) {
	text, err := os.ReadFile("notices/scalar.json")
	var list []struct {
		Name, License, Author string
		Texts                 []string
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	about, e := os.ReadFile("../internal/api/reference/LICENSE.scalar.txt")
	m := regexp.MustCompile(`@scalar/api-reference ([0-9.]+)`).FindSubmatch(about)
	if err = errors.Join(err, e); err == nil && m == nil {
		err = errors.New("LICENSE.scalar.txt names no version")
	}
	for _, p := range list {
		one := part{name: p.Name, license: p.License, author: p.Author, texts: p.Texts, purl: "pkg:npm/" + strings.Replace(p.Name, "@", "%40", 1)}
		if p.Name == "@scalar/api-reference" && m != nil {
			one.version = string(m[1])
			one.purl += "@" + one.version
		}
		if strings.HasPrefix(p.Name, "@scalar/") && len(p.Texts) == 0 {
			one.texts = []string{strings.TrimSpace(string(about))}
		}
		out = append(out, one)
	}
	return out, err
}

// pages returns the scripts that the console's pages load. A new version changes the line here.
func pages() (out []part, err error) {
	for _, s := range []struct{ name, version, file, license string }{
		{"htmx.org", "2.0.11", "htmx.txt", "0BSD"},
		{"uplot", "1.6.32", "uplot.txt", "MIT"},
	} {
		text, e := os.ReadFile("../internal/console/licences/" + s.file)
		err = errors.Join(err, e)
		out = append(out, part{
			name: s.name, version: s.version, purl: "pkg:npm/" + s.name + "@" + s.version, license: s.license, author: s.name,
			texts: []string{strings.TrimSpace(string(text))},
		})
	}
	return out, err
}

// notices returns the text of THIRD_PARTY_NOTICES. Parts with the same texts share one section.
func notices(all []part) []byte {
	var b bytes.Buffer
	b.WriteString("Generated by make generate: do not edit.\n\nKobo's binaries contain the software below. Kobo's own licence is in the file LICENSE.\n")
	var order []string
	same := map[string][]part{}
	for _, p := range all {
		text := strings.Join(p.texts, "\n\n")
		if text == "" {
			text = "The package has no licence file. Its author is " + cmp.Or(p.author, "not named") + "."
		}
		key := "Licence: " + p.license + "\n\n" + text
		if same[key] == nil {
			order = append(order, key)
		}
		same[key] = append(same[key], p)
	}
	for _, key := range order {
		b.WriteString("\n" + strings.Repeat("=", 80) + "\n\n")
		for _, p := range same[key] {
			b.WriteString(strings.TrimSpace(p.name+" "+p.version) + "\n")
		}
		b.WriteString(key + "\n")
	}
	return b.Bytes()
}
