package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

func keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "Rotate the master key",
		Long: `Rotate the master key while Kobo serves. The keyring is a file with a line for each key.
Kobo signs, hashes and seals with the first line, and verifies and opens with the others.

  kobo key add          on one machine; then copy the file to the other machines
  kobo key promote ID   on each machine
  kobo rekey            once
  kobo key remove ID    on each machine, when kobo key status shows that nothing depends on it

Running programs read the file every two seconds. A program does not write with a line that
another running program of the database lacks.`,
	}
	l := configured(c)
	l.writes = true
	c.PersistentFlags().Bool("evidence", false, "work on the evidence keyring, whose lines are never removed")
	add := func(use, short string, args int, do func(*cobra.Command, *rotation, []string) error) *cobra.Command {
		one := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(args), RunE: l.rotating(do)}
		c.AddCommand(one)
		return one
	}
	add("status", "Show the lines, the programs that hold them, and what depends on them", 0, keyStatus)
	add("add", "Add a line that only verifies and opens", 0, addKey)
	add("promote ID", "Make a line the first one, with which Kobo writes", 1, promoteKey)
	add("wrap", "Encrypt the file of the master key with the key of master_key_kms, or with that key's newest version", 0, wrapKeys)
	add("unwrap", "Make a wrapped file plain again", 0, unwrapKeys)
	c.AddCommand(&cobra.Command{
		Use: "callback NAME", Short: "Show the callback address of a bank or of vtpass, which contains a secret", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := l.load()
			if err != nil {
				return err
			}
			address, err := cfg.CallbackAddress(args[0])
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), address)
			}
			return err
		},
	})
	remove := add("remove ID", "Remove a line on which nothing depends", 1, removeKey)
	remove.Flags().Bool("lost", false, "the key is lost for good: what depends on it can never be read again")
	return c
}

// rotation is the keyring on which a command works.
type rotation struct {
	*keyring.Service
	operators *operator.Service
	ring      string
	file      secret.File
}

// rotating returns a command function that opens the database, and then runs do with the keyring's
// file. It does not open the program, which may lack a line.
func (l *location) rotating(do func(*cobra.Command, *rotation, []string) error) func(*cobra.Command, []string) error {
	return l.withDatabase(func(c *cobra.Command, d *db.DB, args []string) error {
		cfg, err := l.load()
		if err != nil {
			return err
		}
		if err := d.Fits(c.Context()); err != nil {
			return err
		}
		r := &rotation{operators: operator.New(d, nil, clock.System{})}
		if r.ring, r.file, err = ringOf(c, cfg); err != nil {
			return err
		}
		r.Service = keyring.New(keyring.Config{DB: d, Clock: clock.System{}, Machine: clock.System{}})
		return do(c, r, args)
	})
}

// ringOf returns the name and the file of the keyring that the flags choose.
func ringOf(c *cobra.Command, cfg app.Config) (ring string, file secret.File, err error) {
	evidence, err := c.Flags().GetBool("evidence")
	switch {
	case err != nil:
		return "", file, err
	case evidence && c.Name() == "remove":
		return "", file, errors.New("an evidence line is never removed: the rows of its time can be checked only with it")
	case evidence && strings.HasSuffix(c.Name(), "wrap"):
		return "", file, errors.New("only the file of the master key can be wrapped")
	case evidence && cfg.EvidenceKeyFile == "":
		return "", file, errors.New("evidence_key_file is not set")
	case evidence:
		return keyring.Evidence, secret.File{Path: cfg.EvidenceKeyFile}, nil
	case c.Name() == "remove" && cfg.EvidenceKeyFile == "":
		return "", file, errors.New("evidence_key_file is not set, so the master key signs the history, and no line of it can be removed")
	case cfg.MasterKey.Reveal() != "":
		return "", file, errors.New("the setting master_key contains the keyring: edit it there, or use master_key_file")
	case cfg.MasterKeyFile == "":
		return "", file, errors.New("master_key_file is not set")
	}
	file, err = cfg.MasterFile()
	return keyring.Master, file, err
}

// record writes a line of the audit log about a change of the keyring's file.
func (r *rotation) record(ctx context.Context, act, keyID string, details map[string]string) error {
	if details == nil {
		details = map[string]string{}
	}
	details["ring"] = r.ring
	return r.operators.Record(ctx, local(), "key."+act, keyID, details)
}

func addKey(c *cobra.Command, r *rotation, _ []string) error {
	keyID, err := r.file.AddLine()
	if err == nil {
		err = r.record(c.Context(), "add", keyID, nil)
	}
	return done(c, err, `added the line %s below the first one of %s
Copy the file to the other machines of this database. kobo key status shows which programs hold the line.
Then make it the first one on each machine: kobo key promote %[1]s`, keyID, r.file.Path)
}

// wrapKeys wraps the file of the master key. If the command stops before it records the act, run it again.
func wrapKeys(c *cobra.Command, r *rotation, _ []string) error {
	err := r.file.Wrap()
	if err == nil {
		err = r.record(c.Context(), "wrap", r.ring, nil)
	}
	return done(c, err, `wrapped %s
Start no program without master_key_kms now, and remove each plain copy of the file that is not a backup.`, r.file.Path)
}

func unwrapKeys(c *cobra.Command, r *rotation, _ []string) error {
	err := r.file.WriteUnwrapped()
	if err == nil {
		err = r.record(c.Context(), "unwrap", r.ring, nil)
	}
	return done(c, err, "%s is plain again", r.file.Path)
}

func promoteKey(c *cobra.Command, r *rotation, args []string) error {
	held, err := r.lines()
	if err == nil && !slices.Contains(held, args[0]) {
		err = fmt.Errorf("%s has no line %s", r.file.Path, args[0])
	}
	if err == nil {
		err = r.Promotable(c.Context(), r.ring, args[0])
	}
	if err == nil {
		err = r.file.PromoteLine(args[0])
	}
	if err == nil {
		err = r.record(c.Context(), "promote", args[0], nil)
	}
	return done(c, err, "promoted the line %s in %s; running programs write with it within seconds", args[0], r.file.Path)
}

func removeKey(c *cobra.Command, r *rotation, args []string) error {
	lost, err := c.Flags().GetBool("lost")
	if err != nil {
		return err
	}
	held, err := r.lines()
	if err != nil {
		return err
	}
	if lost && slices.Contains(held, args[0]) {
		return fmt.Errorf("%s holds the line %s, so the key is not lost", r.file.Path, args[0])
	}
	if err := r.Remove(c.Context(), args[0], lost); err != nil {
		return err
	}
	if slices.Contains(held, args[0]) {
		err = r.file.RemoveLine(args[0])
	}
	if err == nil {
		err = r.record(c.Context(), "remove", args[0], map[string]string{"lost": fmt.Sprint(lost)})
	}
	return done(c, err, "removed the line %s; remove it on the other machines too", args[0])
}

// lines returns the IDs of the lines in the keyring's file.
func (r *rotation) lines() ([]string, error) {
	k, err := r.file.Read()
	if err != nil {
		return nil, err
	}
	return k.IDs(), nil
}

func keyStatus(c *cobra.Command, r *rotation, _ []string) error {
	held, err := r.lines()
	if err != nil {
		return err
	}
	programs, err := r.Programs(c.Context(), r.ring)
	if err != nil {
		return err
	}
	written, err := r.Lines(c.Context(), r.ring)
	if err != nil {
		return err
	}
	if err := printForm(c, r.file); err != nil {
		return err
	}
	printLines(c, held, programs, written)
	t := newTable(c.OutOrStdout(), "PROGRAM WRITES_WITH LACKS")
	for _, p := range programs {
		lacks := slices.DeleteFunc(slices.Clone(held), p.Holds)
		t.row(p.Name, p.Writes, strings.Join(lacks, " "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout())
	if r.ring != keyring.Master {
		return nil // all rows of the history depend on the evidence lines
	}
	t = newTable(c.OutOrStdout(), "LINE DEPENDENT COUNT ENDS")
	for _, line := range written {
		if !line.RemovedAt.IsZero() {
			continue
		}
		found, err := r.Dependents(c.Context(), line)
		if err != nil {
			return err
		}
		for _, d := range found {
			if d.Count > 0 {
				t.row(d.Line, d.Name, d.Count, d.Ends)
			}
		}
	}
	return t.Flush()
}

// printForm states whether the file is wrapped, if a KMS is set.
func printForm(c *cobra.Command, file secret.File) error {
	if file.KMS == nil {
		return nil
	}
	content, err := os.ReadFile(file.Path)
	if err != nil {
		return err
	}
	if secret.IsWrapped(string(content)) {
		fmt.Fprintf(c.OutOrStdout(), "the file is wrapped by the KMS: %s\n\n", file.Path)
	} else {
		fmt.Fprintf(c.OutOrStdout(), "the file is plain (kobo key wrap): %s\n\n", file.Path)
	}
	return nil
}

// printLines prints the lines of the file, and the lines with which the database was written.
func printLines(c *cobra.Command, held []string, programs []keyring.Program, written []keyring.Line) {
	known := map[string]keyring.Line{}
	all := slices.Clone(held)
	for _, line := range written {
		known[line.ID] = line
		if !slices.Contains(held, line.ID) {
			all = append(all, line.ID)
		}
	}
	t := newTable(c.OutOrStdout(), "LINE IN_THE_FILE HELD_BY WRITTEN_SINCE WRITTEN_UNTIL STATE")
	for _, keyID := range all {
		line, wrote := known[keyID]
		at, state := "no", "unused"
		if i := slices.Index(held, keyID); i == 0 {
			at = "first"
		} else if i > 0 {
			at = "yes"
		}
		if wrote {
			state = line.State()
		}
		holders := 0
		for _, p := range programs {
			if p.Holds(keyID) {
				holders++
			}
		}
		t.row(keyID, at, fmt.Sprintf("%d of %d", holders, len(programs)), clock.Text(line.FirstAt), clock.Text(line.LastAt), state)
	}
	_ = t.Flush() // the next table reports an output that cannot be written
	fmt.Fprintln(c.OutOrStdout())
}
