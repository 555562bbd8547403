// Command kobo is Kobo: a Wallet-as-a-Service backend in one program.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/db"
)

func main() {
	db.Identify(version())
	if err := root().ExecuteContext(untilSignal()); err != nil {
		fmt.Fprintln(os.Stderr, "kobo:", said(err))
		os.Exit(codeOf(err))
	}
}

// untilSignal is a context that ends with the first signal to stop. The second
// signal ends the program on the spot.
func untilSignal() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		fmt.Fprintln(os.Stderr, "kobo: ended by a second signal")
		os.Exit(failed)
	}()
	return ctx
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "kobo",
		Short: "Wallet-as-a-Service: not one kobo lost",
		Long: `Kobo lets a fintech's companies hold naira, pay out, and sell airtime, data, TV
and power through one HTTP API, and follows every unknown outcome to its true end.

To try it:         kobo dev
To run it:         kobo migrate && kobo serve
To check the book: kobo verify

The exit code is 0 when all is well, 1 when something could not be done or was found wrong,
and 2 when what was typed cannot be meant.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.AddCommand(devCommand(), serveCommand(), migrateCommand(), companyCommand(), operatorCommand(), payoutCommand(), adjustmentCommand(), auditCommand(),
		listenCommand(), triggerCommand(), caseCommand(), webhookCommand(), verifyCommand(), reconcileCommand(),
		backupCommand(), restoreCommand(), doorCommand(), keygenCommand(), versionCommand())
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{err} })
	strict(c)
	c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), "{{if .Runnable}}", `{{if and .Runnable (not (index .Annotations "group"))}}`, 1))
	return c
}

// configured adds the flag that names the configuration file, and returns what
// reads it.
func configured(c *cobra.Command) func() (app.Config, error) {
	path := c.Flags().String("config", "", "configuration `FILE` (YAML); KOBO_… in the environment is stronger")
	return func() (app.Config, error) { return app.Load(*path) }
}

// pages writes a table whose rows are asked for page by page; ask writes those of
// one and says how many they were.
func pages(w *tabwriter.Writer, ask func(limit, offset int) (int, error)) error {
	const page = 500
	for offset := 0; ; offset += page {
		n, err := ask(page, offset)
		if err != nil {
			return err
		}
		if n < page {
			return w.Flush()
		}
	}
}
