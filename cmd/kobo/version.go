package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/secret"
)

//go:generate go -C ../../tools run ./notices

// release and commit describe a release build. The linker sets them with -ldflags "-X
// main.release=1.2.3 -X main.commit=0123456789abcdef".
var release, commit = "", ""

// version returns the release, or the commit of the build if the build has no release.
func version() string {
	switch of := revision(); {
	case release != "":
		return release
	case of != "":
		return "development " + of
	}
	return "development"
}

// revision returns the first twelve digits of the commit of the build, or "" if it is not known.
func revision() string {
	of := commit
	if info, ok := debug.ReadBuildInfo(); ok && of == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				of = s.Value
			}
		}
	}
	return of[:min(len(of), 12)]
}

func versionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the environment of the configuration",
		Long: `Print the version. If --config or the variable KOBO_MODE is set, print the environment too:
dev (mode sandbox), staging or live.`,
		Args: cobra.NoArgs,
	}
	path := c.Flags().String("config", "", configUsage)
	c.RunE = func(c *cobra.Command, _ []string) error {
		of := ""
		if release != "" && revision() != "" {
			of = " of commit " + revision()
		}
		fmt.Fprintf(c.OutOrStdout(), "kobo %s%s (%s, %s/%s)\n", version(), of, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		if *path == "" && os.Getenv("KOBO_MODE") == "" {
			return nil
		}
		cfg, err := app.Load(*path)
		if err == nil {
			err = cfg.Mode.Check()
		}
		return done(c, err, "environment %s", cfg.Mode.Environment())
	}
	return c
}

func keygenCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "keygen",
		Short: "Generate a master key: one line of the keyring",
		Long: `Generate a master key for a new deployment. kobo key add and kobo key promote rotate it
later. Keep the key apart from the backups of the database.

With --out the command shows the key nowhere. It writes a new file for its owner alone.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if out != "" {
				return secret.Create(out)
			}
			_, err := fmt.Fprintln(c.OutOrStdout(), secret.Generate())
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "write the key into this new `FILE` (mode 0600) instead of printing it")
	return c
}
