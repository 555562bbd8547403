package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/bench"
)

func benchCommand() *cobra.Command {
	var o bench.Options
	var file, before, credentials string
	c := &cobra.Command{
		Use:   "bench [MIX...]",
		Short: "Measure the speed of Kobo on this machine",
		Long: `Start a throw-away Kobo and an instant provider, drive Kobo over HTTP, and print what it
achieves and what each operation costs. Then verify the ledger. Each mix has a new instance
on SQLite in a temporary folder, or with --postgres in a new database of that server. The
command removes both afterwards. If the URL leads to the coordinator of a Citus, the database
is made on each of its nodes, and the figures are those of all nodes.

The mixes:
` + bench.Describe() + `
Without --rate each client sends its next request after the response to the last one. With
--rate the clients begin that many operations a second, and a latency counts from the moment
at which the operation should have begun.`,
		Args: cobra.ArbitraryArgs,
	}
	f := c.Flags()
	f.StringVar(&o.Postgres, "postgres", "", "create the databases on the server at this `URL` (postgres://…)")
	f.StringVar(&o.Name, "name", "", "the `NAME` of the database, which begins with kobo_bench_")
	f.StringVar(&o.Folder, "folder", "", "the `DIR` for temporary folders, such as one on a certain disk")
	f.IntVar(&o.Clients, "clients", 64, "clients, each with a connection")
	f.Int64Var(&o.Rate, "rate", 0, "operations per second of all clients together")
	f.DurationVar(&o.Duration, "duration", bench.Least, "how long each mix is measured")
	f.DurationVar(&o.Warm, "warm-up", 5*time.Second, "how long each mix runs before")
	f.BoolVar(&o.Short, "short", false, "permit a shorter duration, and mark the result as short")
	f.IntVar(&o.Fill, "fill", 0, "with --postgres, but not on Citus: copy a purchase `N` times first, so that the ledger is big")
	f.BoolVar(&o.TLS, "tls", false, "use TLS between Kobo and the provider")
	f.BoolVar(&o.Limits, "limits", false, "also measure fsyncs, and with --postgres functions inside PostgreSQL that write the same rows; not on Citus")
	f.DurationVar(&o.Idle, "idle", 0, "watch the processes this long after each load, for work that Kobo deferred")
	f.StringVar(&o.URL, "url", "", "drive the running Kobo at this `URL` instead, which must be a development or staging instance")
	f.StringVar(&credentials, "credentials", ".kobo/dev.json", "with --url: the `FILE` with the credentials of a company (JSON)")
	f.StringVar(&file, "json", "", "write the result into this `FILE` too")
	f.StringVar(&before, "compare", "", "print the ratios to the result in this `FILE`")
	c.RunE = func(c *cobra.Command, args []string) error {
		o.Mixes, o.Version, o.Progress = args, version(), io.Discard
		if isTerminal(os.Stderr) {
			o.Progress = os.Stderr
		}
		if err := o.Check(); err != nil {
			return usage{err}
		}
		if o.URL != "" {
			if err := readJSON(credentials, &o.Account); err != nil {
				return err
			}
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		o.Child = []string{self, c.Name(), benchChild}
		return runBench(c, o, file, before)
	}
	c.AddCommand(soakCommand(), &cobra.Command{
		Use: benchChild, Short: "Run a process of kobo bench", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return bench.Child(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	})
	return c
}

// benchChild is the command with which kobo bench starts its processes.
const benchChild = "child"

// runBench runs the bench, and prints what was measured even if a later mix failed.
func runBench(c *cobra.Command, o bench.Options, file, before string) error {
	var earlier *bench.Report
	if before != "" {
		if err := readJSON(before, &earlier); err != nil {
			return err
		}
	}
	is, err := bench.Run(c.Context(), o)
	if len(is.Results) > 0 {
		err = errors.Join(err, is.Print(c.OutOrStdout(), earlier))
	}
	if file != "" {
		text, e := json.MarshalIndent(is, "", "  ")
		if e == nil {
			e = os.WriteFile(file, append(text, '\n'), 0o644)
		}
		err = errors.Join(err, e)
	}
	return err
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
