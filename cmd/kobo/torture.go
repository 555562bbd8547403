package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/torture"
)

func tortureCommand() *cobra.Command {
	var o torture.Options
	var minutes int
	var seconds int
	var check, replay string
	c := &cobra.Command{
		Use:   "torture",
		Short: "Break a throw-away Kobo under load, and prove that no kobo is lost",
		Long: `Start programs, a database and simulated providers in a temporary folder. Drive them with a
random mix of purchases, payouts, card fundings, credits, virtual accounts, reversals,
adjustments and replaced API keys. Meanwhile kill and freeze the programs, fill the disk, move
the clock, put a backup in place of the database, and let the providers refuse, fall silent,
lie and execute late. With --postgres own also kill and freeze the database server, silence its
connections and lose COMMITs before or after the server executes them; with --standbys 2 also
let standbys take over. Then let everything end, and check:

` + torture.Describe() + `
All choices and breaks follow from --seed. The program that gets a request does not, and neither
does the order in which requests of different clients reach Kobo. The
command ends only programs that it has started. The exit code is 1 if a check fails.`,
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.Uint64Var(&o.Seed, "seed", 0, "the seed of all choices; random if 0")
	f.IntVar(&minutes, "minutes", 1, "how many minutes the load lasts; the end takes about a minute more")
	f.IntVar(&seconds, "seconds", 0, "the same in seconds, instead of --minutes")
	f.IntVar(&o.Clients, "clients", 6, "clients that send requests")
	f.IntVar(&o.Programs, "programs", 1, "programs that share the database: 1 to 3")
	f.StringVar(&o.Postgres, "postgres", "", "create a database on the server at this `URL` (postgres://…) instead of SQLite, and also cut its connections; own starts a server, and breaks it too")
	f.IntVar(&o.Standbys, "standbys", 0, "standbys of --postgres own, which take over from it: 0 or 2")
	f.StringSliceVar(&o.Only, "only", nil, "the kinds of `BREAKS`, with commas between them; all if empty")
	f.StringVar(&o.Folder, "folder", "", "the `DIR` for the temporary folder")
	f.BoolVar(&o.Keep, "keep", false, "keep the temporary folder with the database and the logs")
	f.StringVar(&o.History, "history", "", "write each call, break and fact into this `FILE` (a JSON object on each line); without it a run that fails keeps a file in the temporary folder")
	f.StringVar(&check, "check", "", "run nothing, and check the history in this `FILE` again")
	f.StringVar(&replay, "replay", "", "make the calls and breaks of the history in this `FILE` again, each at its time, instead of random ones")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if check != "" {
			h, err := torture.ReadHistory(check)
			if err != nil {
				return err
			}
			return verdict(c, &h)
		}
		if o.Duration = time.Duration(minutes) * time.Minute; seconds > 0 {
			o.Duration = time.Duration(seconds) * time.Second
		}
		if o.Seed == 0 {
			o.Seed = rand.Uint64()
		}
		return runTorture(c, o, replay)
	}
	c.AddCommand(tortureChildCommand())
	return c
}

// runTorture makes one run and prints its verdict. It replays the history in the file replay, unless that is "".
func runTorture(c *cobra.Command, o torture.Options, replay string) error {
	if replay != "" {
		h, err := torture.ReadHistory(replay)
		if err == nil {
			err = o.Replay(&h)
		}
		if err != nil {
			return err
		}
	}
	o.Version, o.Progress = version(), io.Discard
	if isTerminal(os.Stderr) {
		o.Progress = os.Stderr
	}
	if err := o.Check(); err != nil {
		return usage{err}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Child = []string{self, c.Name(), tortureChild}
	isOwn := o.History != ""
	if !isOwn { // a finding of a long run must not be lost
		o.History = filepath.Join(cmp.Or(o.Folder, os.TempDir()), fmt.Sprintf("kobo-torture-%d-%d.history", o.Seed, os.Getpid()))
	}
	h, err := torture.Run(c.Context(), o)
	if err != nil {
		err = fmt.Errorf("seed %d: %w", o.Seed, err)
	} else {
		err = verdict(c, &h)
	}
	if isOwn {
		return err
	}
	if err == nil {
		return os.Remove(o.History)
	}
	return fmt.Errorf("%w; the history is in %s (kobo torture --check, --replay)", err, o.History)
}

// tortureChild is the command with which kobo torture starts its programs.
const tortureChild = "child"

func tortureChildCommand() *cobra.Command {
	return &cobra.Command{
		Use: tortureChild, Short: "Run a program of kobo torture", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return torture.Child(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
}

// verdict checks a history and prints the verdict.
func verdict(c *cobra.Command, h *torture.History) error {
	sound, err := torture.Print(c.OutOrStdout(), h, torture.Check(h))
	if err == nil && !sound {
		err = errors.New("a check failed")
	}
	return err
}
