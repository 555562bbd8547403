// Package internal_test checks rules of the project that the compiler does not check:
//
//   - which package may import which (arch_test.go)
//   - how tidy the code is (tidy_test.go)
//   - what SQL may do (sql_test.go)
//   - what the schema may look like (schema_test.go)
//   - what a migration may do while programs serve (migration_test.go, statements_test.go)
//   - that links between pages work (links_test.go)
//   - that planted bugs still apply (mutant_test.go)
//
// A rule is a function that takes source files and returns complaints. Before a rule is applied to
// the project, a test applies it to a few lines that break the rule.
package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kobo-waas/kobo/"

// source is one Go file of the project.
type source struct {
	path      string // relative to the root of the repository, with slashes
	dir       string // the folder of the package, in the same form
	text      string
	test      bool
	generated bool
	file      *ast.File
	fset      *token.FileSet
}

// at returns a complaint that names the file, and the line of a position in the file.
func (s source) at(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.fset.Position(pos).Line, fmt.Sprintf(format, args...))
}

// imports returns those of the project's packages that the file imports, and the position of each
// import. The map's keys are the packages' paths, relative to the root of the repository.
func (s source) imports() map[string]token.Pos {
	out := map[string]token.Pos{}
	for _, i := range s.file.Imports {
		if p, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ours {
			out[p] = i.Pos()
		}
	}
	return out
}

type rule func([]source) []string

// house reads every Go file of the repository.
func house(t testing.TB) []source {
	t.Helper()
	texts := map[string]string{}
	for name, text := range files(t) {
		if strings.HasSuffix(name, ".go") {
			texts[name] = text
		}
	}
	return parse(t, texts)
}

// files returns the text of each file of the project by its path. It skips large files. It also
// skips the folders of version control, builds and other modules, and the stored SQL of earlier
// releases.
func files(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch entry.Name() {
			case ".git", ".kobo", "bin", "node_modules", "statements":
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != ".." {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		// In a linked working tree (git worktree), .git is a file and not a folder.
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 || entry.Name() == ".git" {
			return err
		}
		text, err := os.ReadFile(name)
		texts[filepath.ToSlash(strings.TrimPrefix(name, ".."+string(filepath.Separator)))] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// parse parses Go texts, which are given by path, and returns them as sources in the order of
// their paths.
func parse(t testing.TB, texts map[string]string) []source {
	t.Helper()
	var out []source
	fset := token.NewFileSet()
	for name, text := range texts {
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, source{
			path: name, dir: path.Dir(name), text: text, file: f, fset: fset,
			test: strings.HasSuffix(name, "_test.go"), generated: ast.IsGenerated(f),
		})
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return out
}

// obeys fails the test with a complaint for each place in the project that breaks the rule.
func obeys(t *testing.T, r rule) {
	t.Helper()
	for _, complaint := range r(house(t)) {
		t.Error(complaint)
	}
}

// bites proves that a rule complains about exactly those texts that contain BREAKS. A text that
// breaks the rule must contain that word.
func bites(t *testing.T, r rule, texts map[string]string) {
	t.Helper()
	complaints := strings.Join(r(parse(t, texts)), "\n")
	for name, text := range texts {
		want := strings.Contains(text, "BREAKS")
		if got := strings.Contains(complaints, name+":"); got != want {
			t.Errorf("the rule is broken in %s: %v, and it found: %q", name, want, complaints)
		}
	}
}

// each runs f on every node of every file.
func each(sources []source, f func(s source, n ast.Node)) {
	for _, s := range sources {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if n != nil {
				f(s, n)
			}
			return true
		})
	}
}

// selects reports whether n is the selector pkg.name, as in time.Sleep.
func selects(n ast.Node, pkg, name string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// lineOf returns a complaint about a line of a text. The first line has the number 0.
func lineOf(name string, line int, complaint string) string {
	return fmt.Sprintf("%s:%d: %s", name, line+1, complaint)
}
