package internal_test

import (
	"slices"
	"strings"
	"testing"
)

// order lists the packages from top to bottom. A package imports only packages of lower lines.
// Packages of the same line do not import each other. An entry with "/..." means a package and
// all its subpackages, which may import each other. An entry with "/*" means each direct
// subpackage.
var order = []string{
	"cmd/...",
	"internal/torture",
	"internal/bench",
	"internal/sim",
	"internal/apptest/standby",
	"internal/apptest",
	"internal/app",
	"internal/console",
	"internal/api/apitest",
	"internal/api internal/admin",
	"internal/contract/render",
	"internal/contract",
	"internal/limit",
	"internal/keyring",
	"internal/report",
	// These are the provider adapters (plugs) and the simulated providers.
	"internal/provider/sandbox/sandboxtest",
	"internal/provider/sandbox",
	"internal/provider/sandbox/*",
	"internal/provider/sandbox/books",
	"internal/provider/*",
	"internal/provider/providertest",
	// These are the businesses, such as payouts and cards.
	"internal/erasure",
	"internal/crypto",
	"internal/card",
	"internal/vtu",
	"internal/payout",
	"internal/collection",
	"internal/customer",
	"internal/corporate",
	"internal/settlement",
	"internal/archive",
	"internal/webhook",
	"internal/request",
	"internal/evidence",
	"internal/person",
	"internal/operator",
	"internal/company",
	// The businesses share these packages.
	"internal/identity",
	"internal/quota",
	"internal/opening",
	"internal/idempotency",
	"internal/operation",
	"internal/event",
	"internal/inbox",
	"internal/job",
	"internal/ledger",
	"internal/deployment",
	"internal/provider",
	"internal/db/dbtest/pgtest",
	"internal/db/dbtest",
	"internal/db/cluster",
	"internal/db/bulk",
	"internal/db",
	"internal/db/migration",
	// The vocabulary packages import no other package of the project.
	"internal/guide",
	"internal/secret",
	"internal/person/persontest",
	"internal/kms/kmstest",
	"internal/kms",
	"internal/batch",
	"internal/leash",
	"internal/memo",
	"internal/figure",
	"internal/nuban",
	"internal/chain",
	"internal/id",
	"internal/wire",
	"internal/money",
	"internal/peer",
	"internal/fault",
	"internal/clock",
	"internal/text",
}

var (
	vocabulary = order[slices.Index(order, "internal/secret"):]
	businesses = order[slices.Index(order, "internal/erasure") : slices.Index(order, "internal/company")+1]
	edges      = []string{"internal/api", "internal/admin", "internal/console"}
	// harness lists the packages with code that only tests use. The program must never contain them.
	harness = []string{
		"internal/sim", "internal/apptest", "internal/kms/kmstest", "internal/person/persontest", "internal/api/apitest", "internal/provider/providertest",
		"internal/provider/sandbox/sandboxtest", "internal/db/dbtest", "internal/db/dbtest/pgtest",
	}
	drivers = []string{
		"database/sql", "github.com/jackc/", "modernc.org/sqlite", "github.com/pressly/goose", "github.com/exaring/otelpgx",
	}
)

// floor returns the position of a package's line in order, or -1 if no entry matches the package.
// An entry with the package's exact name takes precedence over a pattern.
func floor(dir string) int {
	if i := slices.IndexFunc(order, func(entry string) bool { return slices.Contains(strings.Fields(entry), dir) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(order, func(entry string) bool {
		if whole, ok := strings.CutSuffix(entry, "/..."); ok {
			return dir == whole || strings.HasPrefix(dir, whole+"/")
		}
		parent, ok := strings.CutSuffix(entry, "/*")
		rest, below := strings.CutPrefix(dir, parent+"/")
		return ok && below && !strings.Contains(rest, "/")
	})
}

func everyPackageIsListed(sources []source) (complaints []string) {
	for _, s := range sources {
		if s.dir != "internal" && floor(s.dir) < 0 {
			complaints = append(complaints, s.at(s.file.Package, "package %s has no place in the order of arch_test.go", s.dir))
		}
	}
	return complaints
}

func importsGoDown(sources []source) (complaints []string) {
	for _, s := range sources {
		from := floor(s.dir)
		if s.test || from < 0 {
			continue // a test may import packages of higher lines
		}
		for p, pos := range s.imports() {
			to := floor(p)
			switch {
			case slices.Contains(vocabulary, s.dir):
				complaints = append(complaints, s.at(pos, "%s is vocabulary and imports nothing of ours, not even %s", s.dir, p))
			case to < from || to == from && !strings.HasSuffix(order[from], "/..."):
				complaints = append(complaints, s.at(pos, "%s may not import %s: imports go down the order of arch_test.go", s.dir, p))
			}
		}
	}
	return complaints
}

func edgesKnowNoDatabase(sources []source) (complaints []string) {
	for _, s := range sources {
		if pos, found := s.imports()["internal/db"]; found && !s.test && slices.Contains(edges, s.dir) {
			complaints = append(complaints, s.at(pos, "%s is an edge: it asks a business, not internal/db", s.dir))
		}
	}
	return complaints
}

func plugsKnowNoBusiness(sources []source) (complaints []string) {
	for _, s := range sources {
		if !strings.HasPrefix(s.dir, "internal/provider/") || s.test {
			continue
		}
		for p, pos := range s.imports() {
			if slices.Contains(businesses, p) {
				complaints = append(complaints, s.at(pos, "%s is a plug and knows no business, not %s either", s.dir, p))
			}
		}
	}
	return complaints
}

func harnessStaysInTests(sources []source) (complaints []string) {
	for _, s := range sources {
		if s.test || slices.Contains(harness, s.dir) {
			continue
		}
		for p, pos := range s.imports() {
			if slices.Contains(harness, p) {
				complaints = append(complaints, s.at(pos, "%s is for tests; %s is part of the program", p, s.dir))
			}
		}
	}
	return complaints
}

func onlyDBImportsDrivers(sources []source) (complaints []string) {
	for _, s := range sources {
		if s.dir == "internal/db" || s.dir == "internal/db/cluster" || strings.HasPrefix(s.dir, "internal/db/dbtest") {
			continue
		}
		for _, i := range s.file.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			if slices.ContainsFunc(drivers, func(d string) bool { return strings.HasPrefix(name, d) }) {
				complaints = append(complaints, s.at(i.Pos(), "only internal/db imports a database driver such as %s", name))
			}
		}
	}
	return complaints
}

func TestEveryPackageHasAPlace(t *testing.T) {
	bites(t, everyPackageIsListed, map[string]string{
		"internal/money/a.go":              "package money",
		"internal/provider/safehaven/a.go": "package safehaven",
		"internal/provider/a/b/a.go":       "package b // BREAKS",
		"internal/util/a.go":               "package util // BREAKS",
		"cmd/kobo/a.go":                    "package main",
		"internal/arch_test.go":            "package internal_test",
	})
	obeys(t, everyPackageIsListed)
}

func TestImportsGoDown(t *testing.T) {
	bites(t, importsGoDown, map[string]string{
		"internal/vtu/a.go":         "package vtu\nimport _ \"" + module + "internal/ledger\"",
		"internal/ledger/a.go":      "package ledger // BREAKS\nimport _ \"" + module + "internal/event\"",
		"internal/ledger/a_test.go": "package ledger_test\nimport _ \"" + module + "internal/vtu\"",
		"internal/money/a.go":       "package money // BREAKS\nimport _ \"" + module + "internal/fault\"",
		"internal/admin/a.go":       "package admin // BREAKS\nimport _ \"" + module + "internal/api\"",
		"internal/provider/x/a.go":  "package x // BREAKS\nimport _ \"" + module + "internal/provider/y\"",
		"cmd/kobo/a.go":             "package main\nimport _ \"" + module + "cmd/kobo/b\"",
	})
	obeys(t, importsGoDown)
}

func TestEdgesKnowNoDatabase(t *testing.T) {
	bites(t, edgesKnowNoDatabase, map[string]string{
		"internal/api/a.go":      "package api // BREAKS\nimport _ \"" + module + "internal/db\"",
		"internal/api/a_test.go": "package api\nimport _ \"" + module + "internal/db\"",
		"internal/app/a.go":      "package app\nimport _ \"" + module + "internal/db\"",
	})
	obeys(t, edgesKnowNoDatabase)
}

func TestPlugsKnowNoBusiness(t *testing.T) {
	bites(t, plugsKnowNoBusiness, map[string]string{
		"internal/provider/safehaven/a.go":      "package safehaven // BREAKS\nimport _ \"" + module + "internal/vtu\"",
		"internal/provider/safehaven/b.go":      "package safehaven\nimport _ \"" + module + "internal/money\"",
		"internal/provider/safehaven/c_test.go": "package safehaven\nimport _ \"" + module + "internal/vtu\"",
	})
	obeys(t, plugsKnowNoBusiness)
}

func TestTheProgramContainsNoTestHarness(t *testing.T) {
	bites(t, harnessStaysInTests, map[string]string{
		"internal/app/a.go":      "package app // BREAKS\nimport _ \"" + module + "internal/db/dbtest\"",
		"internal/app/a_test.go": "package app\nimport _ \"" + module + "internal/db/dbtest\"",
		"internal/apptest/a.go":  "package apptest\nimport _ \"" + module + "internal/db/dbtest\"",
	})
	obeys(t, harnessStaysInTests)
}

func TestOnlyDBImportsDrivers(t *testing.T) {
	bites(t, onlyDBImportsDrivers, map[string]string{
		"internal/job/a.go":       "package job // BREAKS\nimport _ \"database/sql\"",
		"internal/job/a_test.go":  "package job // BREAKS\nimport _ \"github.com/jackc/pgx/v5\"",
		"internal/db/a.go":        "package db\nimport _ \"github.com/jackc/pgx/v5\"",
		"internal/db/dbtest/a.go": "package dbtest\nimport _ \"github.com/jackc/pgx/v5\"",
	})
	obeys(t, onlyDBImportsDrivers)
}
