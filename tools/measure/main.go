// Command measure prints figures about the size and the shape of the code, so that two states
// of the project can be compared. Run it as `make measure`.
//
// Production code is every Go file that git tracks, without tests, generated files, test
// harnesses (apptest, apitest, sandboxtest, dbtest, providertest and all below them) and the
// programs in tools/. The figures are:
//
//   - production lines: the number of lines of production code, with blank lines and comments.
//   - function lines: the lines from "func" to the closing brace, as percentiles.
//   - places per column: the number of places that list the columns of the table operation,
//     which are the migration and declarations. A declaration counts if it names at least half
//     of the columns, in a string or, in package operation, in Go.
//   - places per field: the hand-written lines that name a field of a purchase, in Go and in
//     the schemas of openapi.yaml, and the migration. Three fields are the sample. The checks
//     of kobo verify do not count.
//   - files per endpoint: openapi.yaml, the transcript, the handler's file, and each file that
//     declares a method which the handler calls on a business. The program finds methods by
//     their names.
//   - files per provider: its folder, its page in docs, and each production file that names
//     the provider. The simulated providers do not count. For evm only imports count.
//   - longest import chain: the largest number of our packages that import one another in a
//     row.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// source is one production file.
type source struct {
	path, dir, text string
	file            *ast.File
}

var (
	fset    = token.NewFileSet()
	harness = regexp.MustCompile(`(^|/)(apptest|apitest|sandboxtest|dbtest|providertest|tools)/|_test\.go$`)
)

func main() {
	list, err := exec.Command("git", "ls-files", "*.go").Output()
	check(err)
	var sources []source
	lines := 0
	for _, name := range strings.Fields(string(list)) {
		if harness.MatchString(name) {
			continue
		}
		text := read(name)
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		check(err)
		if !ast.IsGenerated(file) {
			sources = append(sources, source{name, path.Dir(name), text, file})
			lines += strings.Count(text, "\n")
		}
	}
	contract := read("internal/api/openapi.yaml")
	fmt.Printf("production lines      %d in %d files\n", lines, len(sources))
	functions(sources)
	columns(sources)
	_, schemas, _ := strings.Cut(contract, "\n  schemas:\n")
	for _, field := range []string{"productName", "cardNumber", "meterNumber"} {
		purchaseField(sources, schemas, field)
	}
	endpoints(sources, contract)
	for _, p := range []string{"evm", "safehaven", "sudo", "tatum", "vtpass"} {
		provider(sources, p)
	}
	imports(sources)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func read(name string) string {
	b, err := os.ReadFile(name)
	check(err)
	return string(b)
}

func functions(sources []source) {
	var sizes []int
	for _, s := range sources {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				sizes = append(sizes, fset.Position(f.End()).Line-fset.Position(f.Pos()).Line+1)
			}
		}
	}
	slices.Sort(sizes)
	fmt.Printf("function lines        p50 %d, p90 %d, max %d\n", sizes[len(sizes)/2], sizes[len(sizes)*9/10], sizes[len(sizes)-1])
}

func columns(sources []source) {
	var names []string
	_, table, _ := strings.Cut(read("internal/db/migration/0004_operation.sql"), "CREATE TABLE operation (")
	table, _, _ = strings.Cut(table, "\n)")
	for _, c := range regexp.MustCompile(`(?m)^ +(\w+) +(?:TEXT|BIGINT)`).FindAllStringSubmatch(table, -1) {
		names = append(names, c[1])
	}
	places := make([]int, len(names))
	for _, s := range sources {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncDecl, *ast.ValueSpec, *ast.TypeSpec:
				listed(n, s.dir == "internal/operation", names, places)
				return false
			}
			return true
		})
	}
	sum := 0
	for i := range places {
		places[i]++ // the migration counts once for each column
		sum += places[i]
	}
	fmt.Printf("places per column     max %d, mean %d.%d (operation)\n", slices.Max(places), sum/len(places), sum*10/len(places)%10)
}

// listed adds one to the count of each column that a declaration names, if the declaration names at
// least half of the columns.
func listed(n ast.Node, owner bool, columns []string, places []int) {
	found := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			for _, w := range strings.FieldsFunc(n.Value, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) }) {
				found[w] = true
			}
		case *ast.Ident:
			if owner && n.IsExported() {
				found[strings.ToLower(n.Name)] = true
			}
		}
		return true
	})
	var named []int
	for i, c := range columns {
		field := strings.ReplaceAll(strings.TrimSuffix(c, "_kobo"), "_", "")
		if found[c] || found[field] || found[strings.TrimSuffix(field, "id")] && len(field) > 2 {
			named = append(named, i)
		}
	}
	if 2*len(named) >= len(columns) {
		for _, i := range named {
			places[i]++
		}
	}
}

func purchaseField(sources []source, schemas, field string) {
	column := strings.ToLower(regexp.MustCompile(`[A-Z]`).ReplaceAllString(field, "_$0"))
	named := regexp.MustCompile(`(?im)^[^/\n]*\b(p\.)?(` + field + `|` + column + `)\b`)
	document, code := len(named.FindAllString(schemas, -1)), 0
	for _, s := range sources {
		if slices.Contains([]string{"internal/vtu", "internal/event", "internal/api", "internal/report"}, s.dir) && !strings.Contains(s.path, "/verify") {
			code += len(named.FindAllString(s.text, -1))
		}
	}
	fmt.Printf("places per field      %s: %d (Go %d, openapi.yaml %d, migration 1)\n", field, code+document+1, code, document)
}

func endpoints(sources []source, contract string) {
	methods := map[string][]string{} // the files that declare a method, by its name
	declared := regexp.MustCompile(`(?m)^(?:func \(\w+ \*?\w+\) |\t)([A-Z]\w*)\((?:ctx|\w* \w|\))`)
	for _, s := range sources {
		for _, m := range declared.FindAllStringSubmatch(s.text, -1) {
			methods[m[1]] = append(methods[m[1]], s.path)
		}
	}
	handler := regexp.MustCompile(`(?ms)^func \(\w+ \*?\w+\) ([A-Z]\w*)\(.*?^}`)
	call := regexp.MustCompile(`\.([A-Z]\w+)\.([A-Z]\w+)\(`)
	most, longest, sum, n := 0, "", 0, 0
	for _, s := range sources {
		for _, f := range handler.FindAllStringSubmatch(s.text, -1) {
			body, name := f[0], strings.ToLower(f[1][:1])+f[1][1:]
			if s.dir != "internal/api" || !strings.Contains(contract, "operationId: "+name+"\n") {
				continue
			}
			touched := map[string]bool{s.path: true}
			for _, c := range call.FindAllStringSubmatch(body, -1) {
				for _, file := range methods[c[2]] { // h.Settlements is of package settlement
					if strings.HasPrefix(path.Base(path.Dir(file)), strings.TrimSuffix(strings.ToLower(c[1]), "s")) {
						touched[file] = true
					}
				}
			}
			files := len(touched) + 2 // plus openapi.yaml and the transcript
			sum, n = sum+files, n+1
			if files > most {
				most, longest = files, name
			}
		}
	}
	fmt.Printf("files per endpoint    mean %d.%d, max %d (%s), of %d\n", sum/n, sum*10/n%10, most, longest, n)
}

func provider(sources []source, name string) {
	var outside []string
	code := regexp.MustCompile(`(?im)^[^/\n]*` + name)
	if name == "evm" {
		code = regexp.MustCompile(`internal/provider/evm"`)
	}
	for _, s := range sources {
		if !strings.HasPrefix(s.dir, "internal/provider/") && code.MatchString(s.text) {
			outside = append(outside, s.path)
		}
	}
	fmt.Printf("files per provider    %s: %d (its folder, its page, %s)\n", name, 2+len(outside), strings.Join(outside, ", "))
}

func imports(sources []source) {
	below := map[string][]string{}
	for _, s := range sources {
		for _, i := range s.file.Imports {
			if p, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "github.com/kobo-waas/kobo/"); ours {
				below[s.dir] = append(below[s.dir], p)
			}
		}
	}
	known := map[string][]string{}
	var longest func(dirs []string) []string
	longest = func(dirs []string) (most []string) {
		for _, dir := range dirs {
			if known[dir] == nil {
				known[dir] = append([]string{path.Base(dir)}, longest(below[dir])...)
			}
			if len(known[dir]) > len(most) {
				most = known[dir]
			}
		}
		return most
	}
	chain := longest([]string{"cmd/kobo"})
	fmt.Printf("longest import chain  %d: %s\n", len(chain), strings.Join(chain, " > "))
}
