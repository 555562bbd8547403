package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// done prints the result of a command, unless the command failed.
func done(c *cobra.Command, err error, format string, args ...any) error {
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), format+"\n", args...)
	}
	return err
}

// table is text in columns. Flush writes it.
type table struct{ *tabwriter.Writer }

// newTable begins a table with its heading, unless that is empty.
func newTable(out io.Writer, heading ...any) table {
	t := table{tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)}
	if len(heading) > 0 {
		t.row(heading...)
	}
	return t
}

func (t table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = fmt.Sprint(cell)
	}
	fmt.Fprintln(t, strings.Join(texts, "\t"))
}

// headings are the columns of a table, from a text with spaces in between. An
// underscore is a space within a heading.
func headings(text string) (out []any) {
	for _, one := range strings.Fields(text) {
		out = append(out, strings.ReplaceAll(one, "_", " "))
	}
	return out
}

// printAll prints a list that is read page by page.
func printAll[T any](c *cobra.Command, heading string, read func(limit, offset int) ([]T, int64, error), row func(T) []any) error {
	const page = 500
	t := newTable(c.OutOrStdout(), headings(heading)...)
	for offset := 0; ; offset += page {
		list, _, err := read(page, offset)
		if err != nil {
			return err
		}
		for _, one := range list {
			t.row(row(one)...)
		}
		if len(list) < page {
			return t.Flush()
		}
	}
}
