package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

func devCommand() *cobra.Command {
	var listen, data, database, credentials, routes, token string
	var fresh, fourEyes bool
	c := &cobra.Command{
		Use:   "dev",
		Short: "Try Kobo on this machine without any setup",
		Long: `Run Kobo in sandbox mode with a development company that holds a million naira.

The providers are simulated inside this program. The last two digits of a phone number
choose what they do: …01 refuses, …02 loses the answer, and so on (docs/sandbox.md). The
company and its money are still there at the next start.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg := app.DevConfig(data, database)
			cfg.VTU.Routes, cfg.SandboxToken = routes, secret.NewText(token)
			if fourEyes {
				cfg.FourEyes = "on"
			}
			return dev(c.Context(), listen, cfg, credentials, fresh)
		},
	}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8080", "address and port")
	f.StringVar(&data, "data", ".kobo", "folder of all data")
	f.StringVar(&database, "database", "", "use this PostgreSQL database instead of SQLite: postgres://…")
	f.StringVar(&credentials, "credentials", "", "write the credentials into this file (JSON) once Kobo answers requests")
	f.StringVar(&routes, "routes", "", "the biller of each service, as in the setting vtu.routes (docs/settings.md)")
	f.StringVar(&token, "sandbox-token", "", "require this bearer `TOKEN` at /sandbox/; without one /sandbox/ answers on loopback alone")
	f.BoolVar(&fourEyes, "four-eyes", false, "let acts that can lead to money leaving wait for a second operator")
	f.BoolVar(&fresh, "fresh", false, "delete the company and its money, and begin again")
	return c
}

func dev(ctx context.Context, listen string, cfg app.Config, credentials string, fresh bool) error {
	log, err := app.NewLogger(os.Stderr, cfg.Log)
	if err != nil {
		return err
	}
	// Open the port first. If a kobo dev is already running, the command fails here, before it changes
	// the data of the running program.
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("%w (another one running? choose a port with --listen)", err)
	}
	if _, port, err := net.SplitHostPort(listener.Addr().String()); err == nil {
		cfg.ConsoleOrigin = "http://localhost:" + port // a name, because passkeys refuse addresses
	}
	a, c, err := app.OpenDev(ctx, cfg, fresh, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	c.BaseURL, c.SandboxToken = "http://"+listener.Addr().String(), cfg.SandboxToken.Reveal()
	if c.ConsoleURL, err = a.ConsoleURL(ctx); err != nil {
		a.Close()
		return errors.Join(err, listener.Close())
	}
	if err = a.AppURLs(ctx, &c); err != nil {
		a.Close()
		return errors.Join(err, listener.Close())
	}
	if err = a.AgreeWithBank(ctx); err != nil {
		a.Close()
		return errors.Join(err, listener.Close())
	}
	bundle, err := firstBundle(ctx, a)
	if err != nil {
		a.Close()
		return errors.Join(err, listener.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var unwritten error
	err = a.Run(ctx, listener, func() {
		introduce(os.Stdout, c, bundle)
		err := a.Remember(c)
		if err == nil && credentials != "" {
			err = c.Write(credentials)
		}
		if err != nil {
			// A script may wait for the file with the credentials. Without this error, such a script would
			// wait forever.
			unwritten = fmt.Errorf("the credentials were not written: %w", err)
			stop()
		}
	})
	return errors.Join(err, unwritten)
}

// bundle is a data bundle on sale.
type bundle struct{ category, product, name string }

// firstBundle returns the first data bundle in the catalogue.
func firstBundle(ctx context.Context, a *app.App) (bundle, error) {
	services, err := a.Shop.Services(ctx)
	if err != nil {
		return bundle{}, err
	}
	for _, s := range services {
		if s.Kind != provider.Data {
			continue
		}
		categories, err := a.Shop.Categories(ctx, s.ID)
		if err != nil {
			return bundle{}, err
		}
		for _, c := range categories {
			products, err := a.Shop.Products(ctx, c.ID)
			if err != nil || len(products) > 0 {
				if err != nil {
					return bundle{}, err
				}
				return bundle{c.ID, products[0].ID, c.Name + " " + products[0].Name}, nil
			}
		}
	}
	return bundle{}, errors.New("the sandbox sells no data bundle")
}

func introduce(w io.Writer, c app.Credentials, b bundle) {
	fmt.Fprintf(w, `
Kobo is ready, in sandbox mode.

  environment    dev
  base URL       %[1]s        reference: %[1]s/docs
  company        %[2]s
  API key        %[3]s
  PIN            %[4]s
  settlement     %[5]d (account %[6]s)
  admin key      %[7]s
  second key     %[11]s (another operator, for what takes two)
  console        %[12]s (signs in once)
  company's side %[13]s (signs its owner in once)
  approves       %[14]s (signs in once the one who approves payouts)

Move money (buys %[8]s):

  TOKEN=$(curl -s -X POST %[1]s/api/v1/auth/generate-token/%[2]s \
    -H 'x-api-key: %[3]s' | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')

  curl -s -X POST %[1]s/api/v1/vtu/purchase-data -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' -d '{"idempotencyKey":"first-purchase",
    "serviceCategoryId":"%[9]s","productId":"%[10]s",
    "phoneNumber":"08030000010","settlementId":%[5]d}'

Be paid (a pretend transfer into the settlement account):

  curl -s -X POST %[1]s/sandbox/credit -H 'Content-Type: application/json' \
    -d '{"accountNumber":"%[6]s","amount":5000,"senderName":"BOLA SAMPLE"}'

`, c.BaseURL, c.Reference, c.APIKey, c.PIN, c.SettlementID, c.SettlementAccountNumber, c.AdminKey, b.name, b.category, b.product, c.SecondAdminKey, cmp.Or(c.ConsoleLink(), "off"), cmp.Or(c.AppLink(), "off"), cmp.Or(c.ThirdAppLink(), "off"))
}
