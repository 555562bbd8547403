package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/secret"
)

// release is the version of a release build. The linker sets it with -ldflags "-X
// main.release=1.2.3".
var release = ""

// version returns the release, or the commit of the build if the build has no release.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "development " + s.Value[:12]
		}
	}
	return "development"
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(c *cobra.Command, _ []string) {
			fmt.Fprintf(c.OutOrStdout(), "kobo %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
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
