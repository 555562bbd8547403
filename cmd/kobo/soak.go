package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/bench"
)

// soakCommand returns the command kobo bench soak.
func soakCommand() *cobra.Command {
	var o bench.SoakOptions
	var file, chart, read string
	c := &cobra.Command{
		Use:   "soak",
		Short: "Run Kobo for hours under a constant load, and judge whether it grows",
		Long: `Start a throw-away Kobo with simulated providers, and drive it for hours: purchases, payouts,
credits and reads at --rate, with webhooks. One payment of 25 is refused, lost, late or not
executed, and one request to a provider of 300 fails. Read the program's memory, goroutines,
open files, tables and waiting work at intervals. Then compare the first quarter of the run
with the last one by the rules that the table names, and verify the ledger. The exit code is
1 if a number is not flat, or if the ledger is not sound.`,
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.StringVar(&o.Postgres, "postgres", "", "create the database on the server at this `URL` (postgres://…, no Citus) instead of SQLite")
	f.StringVar(&o.Name, "name", "", "the `NAME` of the database, which begins with kobo_bench_")
	f.StringVar(&o.Folder, "folder", "", "the `DIR` for the temporary folder")
	f.IntVar(&o.Clients, "clients", 32, "clients, each with a connection")
	f.Int64Var(&o.Rate, "rate", 20, "operations per second of all clients together")
	f.DurationVar(&o.Duration, "duration", 2*time.Hour, "how long the load lasts")
	f.DurationVar(&o.Every, "every", 30*time.Second, "the time between two samples")
	f.Uint64Var(&o.Seed, "seed", 1, "the seed of the choices of operations and faults")
	f.StringVar(&file, "json", "", "write the samples and the verdict into this `FILE`, after each sample")
	f.StringVar(&chart, "chart", "", "draw the samples into this `FILE` (SVG)")
	f.StringVar(&read, "read", "", "run nothing, and judge and print the record in this `FILE` again")
	c.RunE = func(c *cobra.Command, _ []string) error {
		var is bench.SoakReport
		var err error
		if read != "" {
			err = readJSON(read, &is)
			is.Judge()
		} else {
			is, err = runSoak(c, o, file)
		}
		if len(is.Samples) == 0 {
			return err
		}
		if err = errors.Join(err, is.Print(c.OutOrStdout())); chart != "" {
			err = errors.Join(err, draw(is, chart))
		}
		if err == nil && !is.Flat {
			err = errors.New("a number is not flat")
		}
		return err
	}
	return c
}

// runSoak runs a soak, and writes its record into the file after each sample.
func runSoak(c *cobra.Command, o bench.SoakOptions, file string) (is bench.SoakReport, err error) {
	o.Version, o.Progress = version(), io.Discard
	if isTerminal(os.Stderr) {
		o.Progress = os.Stderr
	}
	if err := o.Check(); err != nil {
		return is, usage{err}
	}
	self, err := os.Executable()
	if err != nil {
		return is, err
	}
	o.Child = []string{self, "bench", benchChild}
	if file != "" {
		o.Keep = func(r bench.SoakReport) error { return writeJSON(file, r) }
	}
	return bench.Soak(c.Context(), o)
}

// writeJSON replaces a file at once, so that a reader never sees a half of it.
func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func draw(is bench.SoakReport, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(is.Chart(out), out.Close())
}
