// Command mutants plants bugs, one after the other, and proves that a named test catches each of
// them. Run it as `make mutants`, or with words that the names of some mutants contain:
//
//	make mutants ARGS='sweep inbox'
//
// A mutant is a patch in the folder mutants. Its first lines say what it plants and which test must
// fail:
//
//	# The sweep skips a credit that cannot be booked.
//	# test: ./internal/inbox TestX/postgres
//
// The tree stays as it is: the compiler reads the changed files in place of ours (go test -overlay).
// For each mutant the program checks that the patch applies, that the test passes without it, that
// the code with it compiles, and that the test then fails each of several times and says why. A crash
// or a timeout is not a failure of the test. The program ends with 1 if a mutant is not caught so.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	times = flag.Int("times", 3, "how often each mutated test must fail")
	write = flag.String("write", "", "a page that gets the result, between the marks <!-- mutants --> and <!-- end of mutants -->")
	limit = flag.Duration("limit", 6*time.Minute, "the longest time of one run of a test")
)

// mutant is one planted bug.
type mutant struct {
	name  string // the name of the patch without .patch
	patch string
	what  string // what the patch plants, in one line
	dir   string // the folder of the test's package, such as ./internal/ledger
	test  string // the test, with the database as its last part: TestX/postgres
}

// verdict is what a run of a mutant has shown.
type verdict struct {
	mutant
	caught  bool
	said    string // "yes", or why the mutant does not count as caught
	failure string // the first words of the test that caught it
	seconds float64
}

func main() {
	flag.Parse()
	ok, err := run(context.Background(), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run tries the mutants whose names contain one of the words, or all of them. It reports whether all are
// caught.
func run(ctx context.Context, words []string) (bool, error) {
	list, err := mutants("mutants", words)
	if err != nil {
		return false, err
	}
	scratch, err := os.MkdirTemp("", "kobo-mutants-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(scratch)
	b := bench{scratch: scratch, sound: map[string]error{}}
	var verdicts []verdict
	for _, m := range list {
		started := time.Now()
		v := verdict{mutant: m, caught: true, said: "yes"}
		if v.failure, err = b.try(ctx, m); err != nil {
			v.caught, v.said = false, err.Error()
		}
		v.seconds = time.Since(started).Seconds()
		fmt.Printf("%-45s %5.1f s  %s  %s\n", v.name, v.seconds, v.said, v.failure)
		verdicts = append(verdicts, v)
	}
	report, all := result(verdicts)
	fmt.Println("\n" + report)
	if *write != "" {
		return all, put(*write, report)
	}
	return all, nil
}

// mutants reads the patches of a folder.
func mutants(folder string, words []string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err != nil {
		return nil, err
	}
	var list []mutant
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".patch")
		if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) }) {
			continue
		}
		m, err := read(file)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		return nil, errors.New("no mutant has such a name")
	}
	return list, nil
}

var header = regexp.MustCompile(`^((?:# .*\n)+)# test: (\./\S+) (Test\S+)\n`)

// read reads the first lines of a patch.
func read(file string) (mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return mutant{}, err
	}
	parts := header.FindSubmatch(text)
	if parts == nil {
		return mutant{}, fmt.Errorf("%s does not begin with what it plants, and its test", file)
	}
	what := strings.Join(strings.Fields(strings.ReplaceAll("\n"+string(parts[1]), "\n# ", " ")), " ")
	return mutant{
		name: strings.TrimSuffix(filepath.Base(file), ".patch"), patch: file,
		what: what, dir: string(parts[2]), test: string(parts[3]),
	}, nil
}

// bench builds and runs tests with and without mutants.
type bench struct {
	scratch string
	sound   map[string]error // the results of the tests without a mutant
}

// try returns an error unless the test of a mutant catches it, and otherwise the first words of the test.
func (b *bench) try(ctx context.Context, m mutant) (failure string, err error) {
	overlay, err := b.plant(ctx, m)
	if err != nil {
		return "", err
	}
	if err := b.passes(ctx, m); err != nil {
		return "", err
	}
	binary, err := b.build(ctx, m, m.name, "-overlay="+overlay)
	if err != nil {
		return "", fmt.Errorf("it does not compile: %w", err)
	}
	defer os.Remove(binary)
	output, failed := b.test(ctx, m, binary, *times)
	fails := strings.Count(output, "\n--- FAIL: "+top(m.test)+" ")
	switch {
	case strings.Contains(output, "\npanic: "):
		return "", errors.New("the test does not fail, but crashes or takes too long:\n" + tail(output))
	case fails == 0:
		return "", errors.New("SURVIVED")
	case fails < *times || failed == nil:
		return "", fmt.Errorf("caught by chance: %d of %d times", fails, *times)
	}
	said := assertions(m.dir, output)
	if len(said) < *times {
		return "", errors.New("the test fails, but no assertion of it says why:\n" + tail(output))
	}
	return said[0], nil
}

// printed finds what a test prints, with its file and line.
var printed = regexp.MustCompile(`(\w+_test\.go):(\d+): .{0,160}`)

// logs finds a statement that prints and does not fail.
var logs = regexp.MustCompile(`\.(Log|Logf|Skip|Skipf)\(`)

// assertions returns the words of a test that are not those of a mere log. A helper's words have the line that calls it.
func assertions(dir, output string) (list []string) {
	for _, found := range printed.FindAllStringSubmatch(output, -1) {
		n, err := strconv.Atoi(found[2])
		text, e := os.ReadFile(filepath.Join(dir, found[1]))
		if lines := strings.Split(string(text), "\n"); err == nil && e == nil && n <= len(lines) && logs.MatchString(lines[n-1]) {
			continue
		}
		list = append(list, found[0])
	}
	return list
}

// plant writes the changed files and the overlay that names them. It returns the overlay's file.
func (b *bench) plant(ctx context.Context, m mutant) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	patch := filepath.Join(root, m.patch)
	tree := filepath.Join(b.scratch, m.name)
	files, err := changed(m.patch)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("it no longer applies: %w", err)
		}
		there := filepath.Join(tree, file)
		if err := os.MkdirAll(filepath.Dir(there), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(there, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = there
	}
	apply := exec.CommandContext(ctx, "git", "apply", patch)
	apply.Dir = tree
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+b.scratch)
	if said, err := apply.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it no longer applies: %s", bytes.TrimSpace(said))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return tree + ".json", os.WriteFile(tree+".json", overlay, 0o600)
}

var target = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)$`)

// changed returns the files that a patch changes.
func changed(patch string) (files []string, err error) {
	text, err := os.ReadFile(patch)
	if err != nil {
		return nil, err
	}
	for _, parts := range target.FindAllSubmatch(text, -1) {
		files = append(files, string(parts[1]))
	}
	if len(files) == 0 {
		return nil, errors.New("it changes no file")
	}
	return files, nil
}

// passes returns an error unless the test of a mutant passes without it. Each test runs once.
func (b *bench) passes(ctx context.Context, m mutant) error {
	key := m.dir + " " + m.test
	err, known := b.sound[key]
	if known {
		return err
	}
	binary := b.binary(m, "sound")
	if _, absent := os.Stat(binary); absent != nil {
		binary, err = b.build(ctx, m, "sound")
	}
	if err == nil {
		output, failed := b.test(ctx, m, binary, 1)
		switch {
		case !ran(output, m.test):
			err = errors.New("there is no such test")
		case failed != nil || !strings.Contains(output, "\n--- PASS: "+top(m.test)+" "):
			err = errors.New("the test does not pass without the mutant:\n" + tail(output))
		}
	}
	b.sound[key] = err
	return err
}

func (b *bench) binary(m mutant, as string) string {
	return filepath.Join(b.scratch, as+"-"+filepath.Base(m.dir)+".test")
}

// build compiles the tests of a mutant's package, and returns the program.
func (b *bench) build(ctx context.Context, m mutant, as string, flags ...string) (string, error) {
	out := b.binary(m, as)
	args := append([]string{"test", "-c", "-vet=off", "-o", out}, flags...)
	said, err := exec.CommandContext(ctx, "go", append(args, m.dir)...).CombinedOutput()
	if err != nil {
		return "", errors.New(tail(string(said)))
	}
	return out, nil
}

// test runs the test of a mutant. The output begins with a line break, so that each of its lines follows one.
func (b *bench) test(ctx context.Context, m mutant, binary string, count int) (output string, failed error) {
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.run", pattern(m.test),
		"-test.count", fmt.Sprint(count), "-test.timeout", limit.String())
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "CI=true") // a test without its database fails, and does not skip
	said, err := cmd.CombinedOutput()
	return "\n" + string(said), err
}

// pattern returns the regular expression of one test: each part of its name is meant whole, and an empty
// part stands for any.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		if p != "" {
			parts[i] = "^" + p + "$"
		}
	}
	return strings.Join(parts, "/")
}

// ran reports whether the output has a test whose name has as many parts as this name.
func ran(output, test string) bool {
	for _, name := range running.FindAllStringSubmatch(output, -1) {
		if strings.Count(name[1], "/") >= strings.Count(test, "/") {
			return true
		}
	}
	return false
}

var running = regexp.MustCompile(`(?m)^=== RUN   (\S+)$`)

// top returns the name of the test function.
func top(test string) string {
	name, _, _ := strings.Cut(test, "/")
	return name
}

// tail returns the end of a long text.
func tail(text string) string {
	const most = 1500
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-most):]
}
