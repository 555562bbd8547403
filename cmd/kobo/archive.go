package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/archive"
)

func archiveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "archive FOLDER",
		Short: "Move old events from the database into files",
		Long: `Move the events of each company that are older than events.keep_months into files, in whole
months. Each line of a file holds an event and a hash, which covers all lines before it.

The command removes a month only after it has written the month's file to the disk and has read
the file again. It never overwrites a file. After an interruption, run it again with the same
FOLDER. Kobo may serve meanwhile. Two kinds of events stay: those that a webhook has not received
yet, and those whose hashes are not in a whole tile of the company's tree yet.

Run it as the owner of the database (docs/operating/growth.md).`,
		Args: cobra.ExactArgs(1),
	}
	l := configuredOrDev(c)
	c.RunE = l.run(func(c *cobra.Command, a *app.App, args []string) error {
		held, err := a.Archive(c.Context(), args[0], func(m archive.Month) {
			fmt.Fprintf(c.OutOrStdout(), "company %s  %s  events %d to %d  %s\n", m.Company, m.Name, m.First, m.Last, m.Hash)
		})
		for _, h := range held {
			why := "a webhook still waits for event %d"
			if h.Uncovered {
				why = "no whole tile below a checkpoint covers the month of event %d"
			}
			fmt.Fprintf(c.OutOrStdout(), "company %s  "+why+"\n", h.Company, h.Sequence)
		}
		if err != nil {
			return fmt.Errorf("not all events were archived: %w", err)
		}
		if len(held) > 0 {
			return errors.New("some events were not archived, because they must wait")
		}
		return nil
	})
	return c
}
