package internal_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFile     = 400
	maxTestFile = 500
	maxFunction = 70
	maxUsual    = 40 // the maximum number of lines of nine functions in ten
)

// floats are the files that may use floating point, but never for money.
var floats = map[string]string{
	"internal/evidence/round.go":             "Prometheus counts in nothing else",
	"internal/api/limit.go":                  "requests a second, as golang.org/x/time/rate counts them",
	"internal/figure/figure.go":              "Prometheus counts in nothing else",
	"internal/ledger/figures.go":             "Prometheus counts in nothing else",
	"internal/app/figures.go":                "Prometheus counts in nothing else",
	"internal/bench/soak_sample.go":          "Prometheus counts in nothing else",
	"internal/api/apitest/generate.go":       "numbers of JSON, as encoding/json reads them",
	"internal/api/apitest/generate_value.go": "numbers of JSON, as encoding/json reads them",
}

// ownTime are the packages whose rows and schedules contain times. They must read the time from
// their clock.Clock, because the sandbox and the tests move that clock.
var ownTime = append([]string{
	"internal/idempotency", "internal/operation", "internal/webhook", "internal/event", "internal/inbox", "internal/ledger", "internal/job",
}, businesses...)

// machineTime are those files of the packages in ownTime that may read the machine's real time.
var machineTime = map[string]string{
	"internal/ledger/figures.go": "how long a batch takes is real time",
	"internal/job/worker.go":     "whether the worker is alive is asked in real seconds, wherever the sandbox's clock stands",
	"internal/webhook/queue.go":  "how long a delivery queue keeps others waiting is real time",
	"internal/webhook/post.go":   "who verifies a message holds its timestamp against a clock that no sandbox moves",
}

func packageNamesSayTheTrade(sources []source) (complaints []string) {
	empty := []string{"model", "service", "repository", "handler", "controller", "util", "common", "dto", "pkg", "helper", "types"}
	for _, s := range sources {
		for _, part := range strings.Split(s.dir, "/") {
			singular := strings.TrimSuffix(part, "s")
			if slices.Contains(empty, part) || slices.Contains(empty, singular) {
				complaints = append(complaints, s.at(s.file.Package, "the folder name %q says nothing about the trade", part))
			}
		}
	}
	return complaints
}

func packagesIntroduceThemselves(sources []source) (complaints []string) {
	introduced, first := map[string]bool{}, map[string]source{}
	for _, s := range sources {
		if s.test {
			continue
		}
		if _, seen := first[s.dir]; !seen {
			first[s.dir] = s
		}
		introduced[s.dir] = introduced[s.dir] || s.file.Doc != nil && !s.generated
	}
	for dir, s := range first {
		if !introduced[dir] {
			complaints = append(complaints, s.at(s.file.Package, "no file of %s has a package comment", dir))
		}
	}
	return complaints
}

func nobodySleeps(sources []source) (complaints []string) {
	each(sources, func(s source, n ast.Node) {
		if !s.test && selects(n, "time", "Sleep") {
			complaints = append(complaints, s.at(n.Pos(), "time.Sleep: wait for the thing itself, or for a timer beside the context"))
		}
	})
	return complaints
}

func timeComesFromTheClock(sources []source) (complaints []string) {
	each(sources, func(s source, n ast.Node) {
		if !s.test && slices.Contains(ownTime, s.dir) && machineTime[s.path] == "" && selects(n, "time", "Now") {
			complaints = append(complaints, s.at(n.Pos(), "time.Now: ask the clock.Clock, which the sandbox can move"))
		}
	})
	return complaints
}

func noFloats(sources []source) (complaints []string) {
	each(sources, func(s source, n ast.Node) {
		id, ok := n.(*ast.Ident)
		if ok && !s.test && !s.generated && (id.Name == "float64" || id.Name == "float32") && floats[s.path] == "" {
			complaints = append(complaints, s.at(n.Pos(), "%s: money is money.Kobo; other uses are listed in tidy_test.go with a reason", id.Name))
		}
	})
	return complaints
}

var promise = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func nothingIsLeftToDo(sources []source) (complaints []string) {
	for _, s := range sources {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if !s.generated && promise.MatchString(c.Text) {
					complaints = append(complaints, s.at(c.Pos(), "do it now, or write an issue: %s", c.Text))
				}
			}
		}
	}
	return complaints
}

func filesAreShort(sources []source) (complaints []string) {
	for _, s := range sources {
		limit := maxFile
		if s.test {
			limit = maxTestFile
		}
		if n := strings.Count(s.text, "\n"); n > limit && !s.generated {
			complaints = append(complaints, s.at(s.file.Package, "%d lines; a file has at most %d", n, limit))
		}
	}
	return complaints
}

func functionsAreShort(sources []source) (complaints []string) {
	var lengths []int
	each(sources, func(s source, n ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || s.generated || s.test {
			return
		}
		lines := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
		if lengths = append(lengths, lines); lines > maxFunction {
			complaints = append(complaints, s.at(f.Pos(), "%s has %d lines; a function has at most %d", f.Name.Name, lines, maxFunction))
		}
	})
	slices.Sort(lengths)
	if i := len(lengths) * 9 / 10; i < len(lengths) && lengths[i] > maxUsual && len(complaints) == 0 {
		complaints = append(complaints, "functions grow: one in ten has more than 40 lines")
	}
	return complaints
}

func nobodyGets(sources []source) (complaints []string) {
	each(sources, func(s source, n ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || s.generated || s.test || f.Recv != nil && f.Name.Name == "GetAEAD" { // tink's registry.KMSClient requires this method
			return
		}
		if rest, found := strings.CutPrefix(f.Name.Name, "Get"); found && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z') {
			complaints = append(complaints, s.at(f.Pos(), "%s: say what it is (Balance) or what it does (FindAccount)", f.Name.Name))
		}
	})
	return complaints
}

func receiversAreOneLetter(sources []source) (complaints []string) {
	each(sources, func(s source, n ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || s.generated || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
			return
		}
		if name := f.Recv.List[0].Names[0].Name; len(name) != 1 {
			complaints = append(complaints, s.at(f.Pos(), "the receiver %s of %s has more than one letter", name, f.Name.Name))
		}
	})
	return complaints
}

func nobodySkips(sources []source) (complaints []string) {
	each(sources, func(s source, n ast.Node) {
		if strings.HasPrefix(s.dir, "internal/db/dbtest") || s.dir == "internal/db/cluster" || !s.test {
			return
		}
		for _, name := range []string{"Skip", "Skipf", "SkipNow"} {
			if selects(n, "t", name) || selects(n, "b", name) {
				complaints = append(complaints, s.at(n.Pos(), "a test that is skipped proves nothing; only dbtest and cluster may, where there is no PostgreSQL"))
			}
		}
	})
	return complaints
}

// tidy has the rules by name. Each rule has samples of code that keep the rule, and samples that
// break it.
var tidy = map[string]struct {
	rule    rule
	samples map[string]string
}{
	"package names say the trade": {packageNamesSayTheTrade, map[string]string{
		"internal/utils/a.go":     "package utils // BREAKS",
		"internal/vtu/model/a.go": "package model // BREAKS",
		"internal/vtu/a.go":       "package vtu",
	}},
	"packages introduce themselves": {packagesIntroduceThemselves, map[string]string{
		"internal/a/a.go":      "package a // BREAKS",
		"internal/b/a.go":      "package b",
		"internal/b/b.go":      "// Package b is here.\npackage b",
		"internal/c/a_test.go": "package c_test",
	}},
	"nobody sleeps": {nobodySleeps, map[string]string{
		"internal/a/a.go":      "package a // BREAKS\nfunc f() { time.Sleep(1) }",
		"internal/a/b_test.go": "package a\nfunc g() { time.Sleep(1) }",
	}},
	"time comes from the clock": {timeComesFromTheClock, map[string]string{
		"internal/vtu/a.go":   "package vtu // BREAKS\nfunc f() { _ = time.Now() }",
		"internal/clock/a.go": "package clock\nfunc f() { _ = time.Now() }",
	}},
	"no floats": {noFloats, map[string]string{
		"internal/a/a.go": "package a // BREAKS\nvar x float64",
		"internal/a/b.go": "package a // BREAKS\nfunc f() { _ = float32(1) }",
		"internal/a/c.go": "// Code generated by hand. DO NOT EDIT.\n\npackage a\nvar y float64",
	}},
	"nothing is left to do": {nothingIsLeftToDo, map[string]string{
		"internal/a/a.go": "package a // BREAKS\n// TO" + "DO later",
		"internal/a/b.go": "package a // todos are fine in prose",
	}},
	"files are short": {filesAreShort, map[string]string{
		"internal/a/a.go":      "package a // BREAKS\n" + strings.Repeat("\n", maxFile),
		"internal/a/a_test.go": "package a\n" + strings.Repeat("\n", maxFile),
		"internal/a/b.go":      "package a\n" + strings.Repeat("\n", maxFile-1),
	}},
	"functions are short": {functionsAreShort, map[string]string{
		"internal/a/a.go": "package a // BREAKS\nfunc f() {" + strings.Repeat("\n", maxFunction) + "}",
		"internal/a/b.go": "package a\nfunc g() {" + strings.Repeat("\n", maxFunction-1) + "}",
	}},
	"nobody gets": {nobodyGets, map[string]string{
		"internal/a/a.go": "package a // BREAKS\nfunc GetBalance() {}",
		"internal/a/b.go": "package a\nfunc Getaway() {}\nfunc (t T) GetAEAD() {}",
	}},
	"receivers are one letter": {receiversAreOneLetter, map[string]string{
		"internal/a/a.go": "package a // BREAKS\nfunc (svc T) f() {}",
		"internal/a/b.go": "package a\nfunc (s T) g() {}\nfunc (T) h() {}",
	}},
	"nobody skips": {nobodySkips, map[string]string{
		"internal/a/a_test.go":         "package a // BREAKS\nfunc TestA(t *testing.T) { t.Skip() }",
		"internal/db/dbtest/a_test.go": "package a\nfunc TestA(t *testing.T) { t.Skip() }",
	}},
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	for name, r := range tidy {
		t.Run(name, func(t *testing.T) {
			bites(t, r.rule, r.samples)
			obeys(t, r.rule)
		})
	}
}

// placeNames matches paths to folders of one machine. No text may contain such a path, because a
// clone must build on any machine. The samples in the test are split in two, because the test also
// searches this file.
var placeNames = regexp.MustCompile(`(^|[\s"'=(])/(work|root|home)/[a-z]`)

func placesIn(texts map[string]string) (complaints []string) {
	for name, text := range texts {
		for i, line := range strings.Split(text, "\n") {
			if found := placeNames.FindString(line); found != "" {
				complaints = append(complaints, lineOf(name, i, "names a folder of one machine: "+found))
			}
		}
	}
	return complaints
}

func TestNoTextNamesAMachine(t *testing.T) {
	for text, want := range map[string]int{
		"cd /root" + "/src": 1, "DATA=/home" + "/ada": 1,
		"go get github.com/x/y": 0, "GET /api/v1/home/x": 0,
	} {
		if got := placesIn(map[string]string{"a": text}); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
	for _, complaint := range placesIn(files(t)) {
		t.Error(complaint)
	}
}

func migrationsAreMarked(texts map[string]string) (complaints []string) {
	marked := regexp.MustCompile(`^(-- kobo: serves \d+\n)?-- \+goose Up\n`)
	numbered := regexp.MustCompile(`^\d{4}_[a-z]+(_[a-z]+)*\.sql$`)
	for name, text := range texts {
		if path.Ext(name) != ".sql" {
			continue
		}
		if !marked.MatchString(text) {
			complaints = append(complaints, lineOf(name, 0, "a migration begins with the line -- +goose Up, after -- kobo: serves N if it says so"))
		}
		if !numbered.MatchString(path.Base(name)) {
			complaints = append(complaints, lineOf(name, 0, "a migration is named NNNN_noun.sql"))
		}
		if promise.MatchString(text) {
			complaints = append(complaints, lineOf(name, 0, "do it now, or write an issue"))
		}
	}
	return complaints
}

func TestMigrationsAreMarked(t *testing.T) {
	for name, want := range map[string]int{"internal/db/migration/0001_a.sql": 0, "internal/db/migration/a.sql": 1} {
		if got := migrationsAreMarked(map[string]string{name: "-- +goose Up\n"}); len(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := migrationsAreMarked(map[string]string{"0001_a.sql": "CREATE TABLE a ()"}); len(got) != 1 {
		t.Errorf("an unmarked migration: %q", got)
	}
	for _, complaint := range migrationsAreMarked(files(t)) {
		t.Error(complaint)
	}
}
