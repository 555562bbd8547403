package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
)

func readyCommand() *cobra.Command {
	var path, at string
	c := &cobra.Command{
		Use:   "ready",
		Short: "Ask the Kobo on this machine whether it is ready",
		Long: `Ask /readyz of the Kobo that serves with the same settings, and print the reply. The exit code
is 0 if that Kobo is ready. Containers use the command as their health check.

The command asks metrics_listen if it is set, and otherwise listen.`,
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&path, "config", "", configUsage)
	c.Flags().StringVar(&at, "url", "", "ask this `URL` instead, such as http://127.0.0.1:8080/readyz")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if at == "" {
			cfg, err := app.Load(path)
			if err != nil {
				return err
			}
			if at, err = readyURL(cfg); err != nil {
				return err
			}
		}
		body, err := askReady(c.Context(), at)
		fmt.Fprint(c.OutOrStdout(), body)
		return err
	}
	return c
}

// readyURL returns the URL of /readyz of the program that serves with these settings.
func readyURL(cfg app.Config) (string, error) {
	address, certificate := cfg.Listen, cfg.TLS.CertFile
	if cfg.MetricsListen != "" {
		address, certificate = cfg.MetricsListen, cfg.TLS.MetricsCertFile
	}
	_, _, err := net.SplitHostPort(address)
	return localURL(address, certificate) + "/readyz", err
}

// localURL returns the URL at which a program on this machine answers. Its listener has an address,
// and a certificate unless it is "".
func localURL(address, certificate string) string {
	scheme := "http://"
	if certificate != "" {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return scheme + net.JoinHostPort(host, port)
}

// askReady sends the request, and returns the body of the response. It returns an error unless the
// status is 200. It does not check the certificate: its name is seldom that of this machine, and the
// request contains no secret.
func askReady(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // see above
	res, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.New("not ready: " + strings.ToLower(http.StatusText(res.StatusCode)))
	}
	return string(body), err
}
