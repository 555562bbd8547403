package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The memory limit is the smallest limit of the program's control group and of the groups above it.
func TestGroupLimit(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("memory.max", "9000000000\n")
	write("system.slice/memory.max", "500000000\n")
	write("system.slice/kobo.service/memory.max", "700000000\n")
	write("open.slice/memory.max", "max\n")
	for text, want := range map[string]int64{
		"0::/system.slice/kobo.service\n": 500_000_000,
		"1:name=x:/\n0::/system.slice\n":  500_000_000,
		"0::/open.slice/gone":             9_000_000_000,
		"0::/\n":                          9_000_000_000,
		"7:memory:/docker/1\n":            0,
		"":                                0,
		"0::/../../system.slice/../open.slice/x\n": 9_000_000_000,
	} {
		if got := groupLimit(write("self", text), root); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := groupLimit(filepath.Join(root, "none"), root); got != 0 {
		t.Errorf("without the file: %d", got)
	}
}
