package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/fault"
)

// The exit code is 0 if all is well. It is 1 if the command failed or found a fault, and 2 if the
// command line is not valid. It is 3 if the outcome of an operation is still unknown.
const (
	failed  = 1
	misused = 2
	unknown = 3
)

// usage is an error in the command line.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

func codeOf(err error) int {
	if errors.As(err, new(still)) {
		return unknown
	}
	if u := (usage{}); errors.As(err, &u) || fault.Is(err, fault.Invalid) {
		return misused
	}
	return failed
}

// said returns the text that the terminal shows for an error, in one line. Only errors in the
// command line or in the configuration may have several lines. The kind of an error, such as
// "missing", is meant for programs, so said leaves it out unless the error is wrapped.
func said(err error) string {
	text := err.Error()
	if u := (usage{}); errors.As(err, &u) {
		return text
	}
	if all := (app.Wrongs{}); errors.As(err, &all) {
		return strings.ReplaceAll(text, "\n", "\nkobo: ")
	}
	if why, plain := err.(*fault.Fault); plain { //nolint:errorlint // a wrapped fault keeps its kind
		text = strings.TrimPrefix(text, string(why.Kind)+": ")
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}

// strict makes a command and its subcommands refuse an invalid command line. Without strict, a
// missing subcommand would only make Cobra print the help and report success.
func strict(c *cobra.Command) {
	if args := c.Args; args != nil {
		c.Args = func(c *cobra.Command, given []string) error {
			if err := args(c, given); err != nil {
				return usagef("%w (%s)", err, c.UseLine())
			}
			return texts(c, given)
		}
	}
	if c.HasSubCommands() && !c.Runnable() {
		c.Annotations = map[string]string{group: group}
		c.Args, c.RunE = cobra.ArbitraryArgs, lost
	}
	for _, one := range c.Commands() {
		strict(one)
	}
}

// texts returns an error if an argument or a flag is not valid text. It also refuses control
// characters, which would break the lines of a printed list. The operators' API refuses the same
// texts.
func texts(c *cobra.Command, given []string) (err error) {
	check := func(what, text string) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			err = usagef("%s must not contain control characters or what is not text", what)
		}
	}
	for _, text := range given {
		check(fmt.Sprintf("%q", text), text)
	}
	c.Flags().Visit(func(f *pflag.Flag) { check("--"+f.Name, f.Value.String()) })
	return err
}

// group is the annotation of a command that only has subcommands.
const group = "group"

// lost returns an error that explains which subcommand is missing or unknown. For the command kobo
// without a subcommand, it prints the help instead.
func lost(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 && !c.HasParent():
		return c.Help()
	case len(args) == 0:
		var names []string
		for _, one := range c.Commands() {
			names = append(names, one.Name())
		}
		slices.Sort(names)
		return usagef("%s needs one of %s (%s --help says more)", c.Name(), strings.Join(names, ", "), c.CommandPath())
	}
	near := ""
	c.SuggestionsMinimumDistance = 2
	if found := c.SuggestionsFor(args[0]); len(found) > 0 {
		near = "; is it " + strings.Join(found, " or ") + "?"
	}
	return usagef("unknown command %q for %q%s", args[0], c.CommandPath(), near)
}
