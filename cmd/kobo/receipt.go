package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/evidence"
)

func receiptCommand() *cobra.Command {
	c := &cobra.Command{Use: "receipt", Short: "Check receipts of transfers and events"}
	c.AddCommand(receiptVerifyCommand())
	return c
}

func receiptVerifyCommand() *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a receipt without a database",
		Long: `Check that a receipt is valid, and print what it proves. FILE holds the answer of
GET /api/v1/receipts/{reference}; - means standard input. The command needs no database, no
settings and no network.

--key is the key that GET /api/v1/checkpoints/key showed when you began. Store the key
yourself: a receipt proves nothing to a reader who takes the key from the same source.`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&key, "key", "", "public key of checkpoints, as name+hash+key")
	c.RunE = func(c *cobra.Command, args []string) error {
		if key == "" {
			return usagef("--key is not set")
		}
		text, err := readAll(c.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		r, err := parseReceipt(text)
		if err != nil {
			return err
		}
		proven, err := r.Verify(key)
		if err != nil {
			return fmt.Errorf("the receipt is not valid: %w", err)
		}
		printProven(c.OutOrStdout(), proven)
		return nil
	}
	return c
}

// readAll reads a file, or standard input if the path is "-".
func readAll(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path) //nolint:gosec // the user's own file
}

// parseReceipt reads a receipt, with or without the envelope of the API.
func parseReceipt(text []byte) (r evidence.Receipt, err error) {
	var body struct{ Data json.RawMessage }
	if err := json.Unmarshal(text, &body); err != nil {
		return r, fmt.Errorf("the file is not a receipt: %w", err)
	}
	if body.Data != nil {
		text = body.Data
	}
	if err = json.Unmarshal(text, &r); err == nil && r.Checkpoint == "" {
		err = errors.New("it has no checkpoint")
	}
	if err != nil {
		err = fmt.Errorf("the file is not a receipt: %w", err)
	}
	return r, err
}

func printProven(to io.Writer, p evidence.Statement) {
	fmt.Fprintf(to, "valid: row %d of the %d rows of company %s\nsigned by %s at %s\n", p.Leaf, p.Size, p.Company, p.Deployment, clock.Text(p.At))
	if p.Row == nil {
		fmt.Fprintln(to, "the content is withheld: the receipt proves the place of the row, and not why its content is missing")
		return
	}
	fmt.Fprintln(to, p.Row[0].Name)
	for _, f := range p.Row[1:] {
		fmt.Fprintf(to, "  %-15s %s\n", f.Name, f.Value)
	}
}
