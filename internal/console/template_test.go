package console_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A template that somebody can read at once has 200 lines at most.
func TestTemplatesAreShort(t *testing.T) {
	const most = 200
	files, err := filepath.Glob("*.templ")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, and at most %d are allowed", name, n, most)
		}
	}
}
