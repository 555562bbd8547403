// Command kobo is Kobo: a Wallet-as-a-Service backend in one program.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kobo:", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "kobo",
		Short: "Wallet-as-a-Service: not one kobo lost",
		Long: `Kobo lets a fintech's companies hold naira, pay out, and sell airtime, data, TV
and power through one HTTP API, and follows every unknown outcome to its true end.

To try it:         kobo dev
To run it:         kobo migrate && kobo serve
To check the book: kobo verify`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.AddCommand(devCommand(), serveCommand(), migrateCommand(), companyCommand(), operatorCommand(), payoutCommand(), adjustmentCommand(), auditCommand(),
		listenCommand(), triggerCommand(), caseCommand(), webhookCommand(), verifyCommand(), reconcileCommand(),
		backupCommand(), restoreCommand(), doorCommand(), keygenCommand(), versionCommand())
	return c
}

// configured adds the flag that names the configuration file, and returns what
// reads it.
func configured(c *cobra.Command) func() (app.Config, error) {
	path := c.PersistentFlags().String("config", "", "configuration file (YAML); KOBO_… in the environment is stronger")
	return func() (app.Config, error) { return app.Load(*path) }
}

// anywhere is configured, and adds the flag that names the folder of kobo dev
// instead: what an operator does can be tried there. It is not taken without
// being named, or a forgotten configuration would find a book to write in.
func anywhere(c *cobra.Command) func() (app.Config, error) {
	load := configured(c)
	data := c.PersistentFlags().String("data", "", "the folder of a kobo dev, to work there instead")
	return func() (app.Config, error) {
		if *data == "" {
			return load()
		}
		if _, err := os.Stat(filepath.Join(*data, "kobo.db")); err != nil {
			return app.Config{}, fmt.Errorf("there is no book: %w", err)
		}
		return app.DevConfig(*data, ""), nil
	}
}

// opened runs do with a program that is built but not serving.
func opened(ctx context.Context, load func() (app.Config, error), do func(a *app.App) error) error {
	cfg, err := load()
	if err != nil {
		return err
	}
	log, err := app.NewLogger(os.Stderr, cfg.Log)
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
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
