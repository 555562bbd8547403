package main

import (
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
)

func serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run Kobo",
		Long: `Run Kobo: the API, the operators' API and the workers.

The configuration file and the environment hold all settings (docs/settings.md). Kobo does
not start with settings of another mode, without a master key, or on a database that belongs
to another mode or whose schema does not serve this program.`,
		Args: cobra.NoArgs,
	}
	path := c.Flags().String("config", "", configUsage)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := app.Load(*path)
		if err := cfg.Check(err); err != nil {
			return err
		}
		a, log, err := open(c.Context(), cfg)
		if err != nil {
			return err
		}
		on, err := cfg.OpenListeners()
		if err != nil {
			a.Close()
			return err
		}
		log.Info("listening", "address", on.Public.Addr().String(), "admin", cfg.AdminListen, "metrics", cfg.MetricsListen,
			"mode", cfg.Mode, "environment", cfg.Mode.Environment(), "version", version())
		return a.Serve(c.Context(), on, nil)
	}
	return c
}
