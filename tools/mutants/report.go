package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	begin = "<!-- mutants -->\n"
	end   = "<!-- end of mutants -->"
)

// result returns the report about the verdicts, in Markdown, and reports whether all mutants are caught.
func result(list []verdict) (report string, all bool) {
	var table strings.Builder
	caught, seconds := 0, 0.0
	for _, v := range list {
		said := v.said
		if v.caught {
			caught++
		} else {
			said, _, _ = strings.Cut("**no: "+said+"**", "\n")
		}
		seconds += v.seconds
		fmt.Fprintf(&table, "| `%s` | %s | `%s` | %s | %.0f |\n", v.name, v.what, strings.TrimPrefix(v.dir, "./internal/")+" "+v.test, said, v.seconds)
	}
	head := fmt.Sprintf("Run of %s, commit `%s`: **%d of %d caught**, each %d times of %d, in %.0f seconds.\n\n",
		time.Now().UTC().Format(time.DateOnly), commit(), caught, len(list), *times, *times, seconds)
	return head + "| Mutant | What it plants | Test | Caught | Seconds |\n|---|---|---|---|---:|\n" + table.String(), caught == len(list)
}

// commit returns the commit of the tree, and says if the tree has changes besides it.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--abbrev=10", "--exclude=*", "--dirty= and changes").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// put writes the report into a page, between the marks.
func put(page, report string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, opened := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return errors.New(page + " has no place for the result")
	}
	return os.WriteFile(page, []byte(before+begin+report+end+after), 0o600)
}
