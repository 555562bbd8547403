package app

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// compose is what the test checks of deploy/compose.yaml.
type compose struct {
	Services map[string]struct {
		Command     []string
		Entrypoint  []string
		EnvFile     []string `yaml:"env_file"`
		Environment map[string]string
		Secrets     []string
		Volumes     []string
		Networks    []string
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	}
	Volumes  map[string]any
	Networks map[string]any
	Secrets  map[string]struct{ File string }
}

// named returns what occurs in some of the texts and is not among the keys of a map.
func named[V any](there map[string]V, texts ...string) (missing []string) {
	for _, text := range texts {
		if _, ok := there[text]; !ok {
			missing = append(missing, text)
		}
	}
	return missing
}

// The services name only networks, volumes, secrets and services that exist, settings and flags of Kobo, and
// files that are there or that secrets.sh makes.
func TestComposeNamesOnlyWhatExists(t *testing.T) {
	var file compose
	if err := yaml.Unmarshal([]byte(readFile(t, "deploy/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	made := secretsMade(t)
	settings := readFile(t, "docs/settings.md")
	flags := regexp.MustCompile(`^--[a-z-]+`)
	for name, s := range file.Services {
		wrong := slices.Concat(named(file.Networks, s.Networks...), named(file.Secrets, s.Secrets...))
		for other, d := range s.DependsOn {
			if wrong = append(wrong, named(file.Services, other)...); !strings.HasPrefix(d.Condition, "service_") {
				wrong = append(wrong, "condition of "+other)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if path, isFile := strings.CutPrefix(from, "./"); !isFile {
				wrong = append(wrong, named(file.Volumes, from)...)
			} else if _, err := os.Stat(filepath.Join("../../deploy", path)); err != nil && !slices.Contains(made, path) {
				wrong = append(wrong, from)
			}
		}
		for _, f := range s.EnvFile {
			for _, line := range strings.Split(readFile(t, "deploy/"+f), "\n") {
				if key, _, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") && !strings.Contains(settings, "`"+key+"`") {
					wrong = append(wrong, key)
				}
			}
		}
		for key := range s.Environment {
			if strings.HasPrefix(key, "KOBO_") && !strings.Contains(settings, "`"+key+"`") {
				wrong = append(wrong, key)
			}
		}
		for _, arg := range s.Command {
			if flag := flags.FindString(arg); flag != "" && !strings.Contains(settings, "`"+flag+"`") {
				wrong = append(wrong, arg)
			}
		}
		if len(wrong) > 0 {
			t.Errorf("%s: %q do not exist", name, wrong)
		}
	}
	for name, s := range file.Secrets {
		if !slices.Contains(made, s.File) {
			t.Errorf("secrets.sh does not make %s, the file of %s", s.File, name)
		}
	}
	if len(file.Services) < 5 || len(file.Secrets) < 6 {
		t.Errorf("only %d services and %d secrets were found", len(file.Services), len(file.Secrets))
	}
}

// secretsMade runs secrets.sh with a program that makes empty keys, and returns the paths that it makes.
func secretsMade(t *testing.T) (paths []string) {
	t.Helper()
	root := t.TempDir()
	keygen := filepath.Join(root, "kobo")
	if err := os.WriteFile(keygen, []byte("#!/bin/sh\n: >\"$3\"\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "bash", "../../deploy/secrets.sh", filepath.Join(root, "secrets"), keygen).CombinedOutput(); err != nil {
		t.Fatalf("secrets.sh: %v: %s", err, out)
	}
	err := filepath.WalkDir(filepath.Join(root, "secrets"), func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			path, err = filepath.Rel(root, path)
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// Each panel of the dashboard has its own id, asks something, and asks the chosen Prometheus. Panels overlap
// nowhere.
func TestTheDashboardIsWhole(t *testing.T) {
	type source struct{ UID string }
	var board struct {
		Title, UID string
		Templating struct{ List []struct{ Name, Type string } }
		Panels     []struct {
			ID          int
			Title, Type string
			Datasource  source
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct {
				RefID, Expr string
				Datasource  source
			}
			Panels []any
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, "deploy/grafana/kobo.json")), &board); err != nil {
		t.Fatal(err)
	}
	if list := board.Templating.List; board.Title == "" || board.UID == "" || len(list) != 1 || list[0].Name != "datasource" || list[0].Type != "datasource" {
		t.Errorf("the dashboard: %q %q %v", board.Title, board.UID, list)
	}
	ids, cells := map[int]string{}, map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] != "" || p.ID == 0 || p.Title == "" || len(p.Panels) > 0 {
			t.Errorf("%s: the id %d, and %d panels inside", p.Title, p.ID, len(p.Panels))
		}
		ids[p.ID] = p.Title
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s: the place %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" && other != p.Title {
					t.Errorf("%s overlaps %s", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.Expr == "" || target.RefID == "" || refs[target.RefID] {
				t.Errorf("%s: the target %+v", p.Title, target)
			}
			refs[target.RefID] = true
		}
		if len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			t.Errorf("%s: %d targets of the source %s", p.Title, len(p.Targets), p.Datasource.UID)
		}
	}
	if len(ids) < 40 {
		t.Errorf("only %d panels were found", len(ids))
	}
}
