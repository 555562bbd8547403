package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// The generated files of both APIs match their openapi.yaml.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for folder, routes := range map[string]string{"api": "", "admin": "admin"} {
		t.Chdir(filepath.Join("..", "..", folder))
		source, err := os.ReadFile("openapi.yaml")
		if err != nil {
			t.Fatal(err)
		}
		files, err := render(source, routes)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "spec.gen.go")
		command := exec.CommandContext(t.Context(), "go", "tool", "oapi-codegen", "-config", "oapi-codegen.yaml", "-o", out, "contract.json")
		if text, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if files["spec.gen.go"], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if have, err := os.ReadFile(name); err != nil || string(have) != string(files[name]) {
				t.Errorf("%s is not made of openapi.yaml (%v): run go generate ./internal/%s", name, err, folder)
			}
		}
		t.Chdir(filepath.Join("..", "contract", "render"))
	}
}
