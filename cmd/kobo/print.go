package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/money"
)

// done prints the result of a command, unless the command failed.
func done(c *cobra.Command, err error, format string, args ...any) error {
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), format+"\n", args...)
	}
	return err
}

// table prints text in columns. Nothing is printed before Flush is called.
type table struct{ *tabwriter.Writer }

// newTable begins a table. The heading holds the names of the columns, separated by spaces. An
// underscore in a name is printed as a space.
func newTable(out io.Writer, heading string) table {
	t := table{tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)}
	if heading != "" {
		fmt.Fprintln(t, strings.ReplaceAll(strings.Join(strings.Fields(heading), "\t"), "_", " "))
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

// printList prints a list as a table. If the list could not be read, printList returns err.
func printList[T any](c *cobra.Command, heading string, list []T, err error, row func(T) []any) error {
	if err != nil {
		return err
	}
	t := newTable(c.OutOrStdout(), heading)
	for _, one := range list {
		t.row(row(one)...)
	}
	return t.Flush()
}

// pages is a function that reads one page of a filtered list, and the total count.
type pages[F, T any] func(ctx context.Context, filter F, limit, offset int) ([]T, int64, error)

// printAll reads a list page by page, and prints all pages as one table.
func printAll[F, T any](c *cobra.Command, heading string, filter F, read pages[F, T], row func(T) []any) error {
	const page = 500
	t := newTable(c.OutOrStdout(), heading)
	for offset := 0; ; offset += page {
		list, _, err := read(c.Context(), filter, page, offset)
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

// printAfter reads a list by cursor, so rows that arrive meanwhile move nothing, and prints all of it as one table.
func printAfter[F any, T interface{ Cursor() string }](
	c *cobra.Command, heading string, filter F, read func(ctx context.Context, filter F, after string, limit int) ([]T, error), row func(T) []any,
) error {
	const page = 500
	t := newTable(c.OutOrStdout(), heading)
	for after := ""; ; {
		list, err := read(c.Context(), filter, after, page)
		if err != nil {
			return err
		}
		for _, one := range list {
			t.row(row(one)...)
			after = one.Cursor()
		}
		if len(list) < page {
			return t.Flush()
		}
	}
}

// nairaIn returns the amount in naira that an argument of the command line contains.
func nairaIn(text string) (money.Kobo, error) {
	amount, err := money.Parse(text)
	if err != nil {
		return 0, usagef("%q %w", text, err)
	}
	return amount, nil
}
