package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"time"
)

// block is a shell block and what the guide says that it prints.
type block struct {
	script, want string
	isShown      bool // the guide shows what it prints
}

// try starts a new Kobo, runs the shell blocks of a guide in one shell, and compares what they print
// with the JSON block after each of them.
func try(kobo string, g guide) (err error) {
	blocks := blocksOf(g)
	if len(blocks) == 0 {
		return nil
	}
	folder, err := os.MkdirTemp("", "kobo-guide-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	stop, err := start(kobo, folder)
	if err != nil {
		return err
	}
	defer func() {
		log, ended := stop()
		if err = errors.Join(err, ended); err != nil {
			err = fmt.Errorf("%w\nKobo's refusals and warnings:\n%s", err, telling(log))
		}
	}()
	script := "set -euo pipefail\n"
	for i, b := range blocks {
		script += fmt.Sprintf("{\n%s} >out.%d\n", b.script, i)
	}
	shell := exec.Command("bash", "-c", script)
	shell.Dir, shell.Env = folder, append(os.Environ(), "PATH="+filepath.Dir(kobo)+":"+os.Getenv("PATH"))
	said, failed := shell.CombinedOutput()
	for i, b := range blocks {
		out, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("out.%d", i)))
		if err == nil && b.isShown && !same(b.want, string(out)) {
			return fmt.Errorf("a block prints\n%s\nbut the guide shows\n%s\nThe block:\n%s\n%s", out, b.want, b.script, said)
		}
	}
	if failed != nil {
		return fmt.Errorf("%w\n%s", failed, said)
	}
	fmt.Printf("guides: %s: %d blocks ran\n", g.Name, len(blocks))
	return nil
}

// blocksOf returns the shell blocks of a guide that run.
func blocksOf(g guide) (blocks []block) {
	isLast := false // the block before was a shell block that runs
	for _, part := range fence.FindAllSubmatch(g.text, -1) {
		switch info := string(part[1]); {
		case info == "sh":
			blocks, isLast = append(blocks, block{script: string(part[2])}), true
			continue
		case info == "json" && isLast:
			last := &blocks[len(blocks)-1]
			last.want, last.isShown = string(part[2]), true
		}
		isLast = false
	}
	return blocks
}

// telling returns the lines of Kobo's log that tell why something was refused.
func telling(log string) (lines string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") || strings.Contains(line, "refused=") || strings.Contains(line, "status=5") {
			lines += line
		}
	}
	return lines
}

// start starts kobo dev with its files in a folder, and waits until it answers. The function stop ends it, and returns its log.
func start(kobo, folder string) (stop func() (log string, err error), err error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	credentials := filepath.Join(folder, "kobo.json")
	dev := exec.Command(kobo, "dev", "--listen", address, "--data", filepath.Join(folder, "data"), "--credentials", credentials)
	var said bytes.Buffer
	dev.Stdout, dev.Stderr = &said, &said
	if err := dev.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- dev.Wait() }()
	stop = func() (string, error) {
		if err := dev.Process.Signal(os.Interrupt); err != nil {
			return "", err
		}
		err := <-ended
		return said.String(), err
	}
	const patience = 2 * time.Minute // a build beside it may keep the machine busy
	for deadline := time.After(patience); ; {
		if _, err := os.Stat(credentials); err == nil {
			return stop, nil // Kobo writes the file when it answers
		}
		select {
		case err := <-ended:
			return nil, fmt.Errorf("kobo dev ended: %w\n%s", err, said.String())
		case <-deadline:
			log, err := stop()
			return nil, errors.Join(fmt.Errorf("kobo dev is not ready after %s\n%s", patience, log), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// same reports whether an output is what a guide shows: the same JSON values, or else the same text. The text
// "…" in a value of the guide stands for any value.
func same(want, got string) bool {
	w, err1 := values(want)
	g, err2 := values(got)
	if err1 != nil || err2 != nil {
		return strings.TrimSpace(want) == strings.TrimSpace(got)
	}
	return alike(w, g)
}

func values(text string) (all []any, err error) {
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, v)
	}
}

// alike reports whether got has the values of want.
func alike(want, got any) bool {
	switch w := want.(type) {
	case string:
		return w == "…" || reflect.DeepEqual(want, got)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !alike(w[i], g[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for name, v := range w {
			other, ok := g[name]
			if !ok || !alike(v, other) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, got)
}
