// Command kobo runs Kobo, a Wallet-as-a-Service backend in one program.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/db"
)

func main() {
	tuneMemory()
	db.Identify(version())
	if err := root().ExecuteContext(untilSignal()); err != nil {
		fmt.Fprintln(os.Stderr, "kobo:", said(err))
		os.Exit(codeOf(err))
	}
}

// untilSignal returns a context that ends with the first signal to stop the program. The second
// signal ends the program immediately.
func untilSignal() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup lets a program go on after its terminal has closed
		signal.Notify(signals, syscall.SIGHUP)
	}
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
		Long: `Kobo lets a fintech's companies hold naira, pay out, and sell airtime, data, TV and
power through one HTTP API. Kobo follows every unknown outcome to its true end.

To try it:           kobo dev
To run it:           kobo migrate && kobo serve
To check the ledger: kobo verify

The exit code is 0 if all is well, 1 if a command failed or found a fault, 2 if the
command line is not valid, and 3 if the outcome of an operation is still unknown.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.AddCommand(devCommand(), serveCommand(), migrateCommand(), companyCommand(), operatorCommand(), payoutCommand(), adjustmentCommand(), proposalCommand(), auditCommand(),
		listenCommand(), triggerCommand(), providerCommand(), productCommand(), caseCommand(), webhookCommand(), verifyCommand(), receiptCommand(), reconcileCommand(),
		backupCommand(), restoreCommand(), archiveCommand(), eraseCommand(), adoptCommand(), accessCommand(), benchCommand(), tortureCommand(), readyCommand(), keygenCommand(), keyCommand(), rekeyCommand(), versionCommand())
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{err} })
	strict(c)
	c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), "{{if .Runnable}}", `{{if and .Runnable (not (index .Annotations "group"))}}`, 1))
	return c
}
