package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/id"
)

func triggerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "trigger KIND",
		Short: "Cause an event in the sandbox",
		Long: `Use the API and the sandbox until the feed of the development company has an event of this
kind. The money of the sandbox really moves. Some kinds move the clock of the sandbox.

Kinds:
` + triggers() + `

kyb.changed happens to a new company, because the company of kobo dev stays approved. The
command creates the company with the admin key of the credentials.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeKinds,
	}
	who := developing(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		d, err := who()
		if err != nil {
			return err
		}
		found, err := d.trigger(c.Context(), args[0])
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "%s\n", found.text)
		}
		return err
	}
	return c
}

// triggers are the kinds of events, with a line for each family.
func triggers() string {
	var lines []string
	family := ""
	for _, kind := range slices.Sorted(maps.Keys(recipes)) {
		was := family
		if family, _, _ = strings.Cut(kind, "."); family != was {
			lines = append(lines, "  "+kind)
			continue
		}
		lines[len(lines)-1] += " " + kind
	}
	return strings.Join(lines, "\n")
}

// completeKinds lists the kinds for the completion of a shell.
func completeKinds(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return slices.Sorted(maps.Keys(recipes)), cobra.ShellCompDirectiveNoFileComp
}

// trigger causes an event and returns the event.
func (d *developer) trigger(ctx context.Context, kind string) (told, error) {
	do, known := recipes[kind]
	if !known {
		return told{}, usagef("%q cannot be triggered; these can:\n%s", kind, triggers())
	}
	after, err := d.last(ctx)
	if err != nil {
		return told{}, err
	}
	if kind == kybChanged {
		d, err = d.newcomer(ctx)
		after = 0
	}
	if err == nil {
		err = do(ctx, d)
	}
	if err != nil {
		return told{}, err
	}
	return d.await(ctx, kind, after)
}

// await is the first event of a kind after a number.
func (d *developer) await(ctx context.Context, kind string, after int64) (told, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		page, err := d.events(ctx, after, 1000, 5)
		if errors.Is(err, context.DeadlineExceeded) {
			return told{}, fmt.Errorf("it was done, and no %s came of it within 30 seconds", kind)
		}
		if err != nil {
			return told{}, fmt.Errorf("it was done, and no %s came of it: %w", kind, err)
		}
		for _, e := range page {
			if after = e.Sequence; e.Event == kind {
				return e, nil
			}
		}
	}
}

// recipe causes an event.
type recipe func(ctx context.Context, d *developer) error

// recipes has a recipe for each kind of event. The last digits of a number choose
// the story of the sandbox (docs/sandbox.md).
var recipes = map[string]recipe{
	"vtu.pending":                  buy("10"),
	"vtu.success":                  buy("10"),
	"vtu.failed":                   buy("01"),
	"payout.pending":               payOut("10"),
	"payout.success":               payOut("10"),
	"payout.failed":                payOut("01"),
	"payout.reversed":              payOutAndBack,
	"settlement.credit":            paidIn,
	"virtual_account.success":      virtualAccount(true, false),
	"virtual_account.failed":       virtualAccount(false, false),
	"virtual_account.late_payment": virtualAccount(false, true),
	"customer.created":             func(ctx context.Context, d *developer) error { _, err := d.customer(ctx); return err },
	"customer.account_generated":   func(ctx context.Context, d *developer) error { _, err := d.customerAccount(ctx); return err },
	"transaction.credit":           customerCredit,
	"card.generated":               func(ctx context.Context, d *developer) error { _, err := d.card(ctx); return err },
	"card.funding_pending":         fundCard(5000),
	"card.funded":                  fundCard(5000),
	"card.funding_failed":          fundCard(5001),
	"crypto.deposit_pending":       onChain("crypto-deposit", false, false),
	"crypto.deposit_completed":     onChain("crypto-deposit", true, false),
	"crypto.deposit_failed":        onChain("crypto-deposit", false, true),
	"crypto.withdrawal_completed":  onChain("crypto-withdrawal", true, false),
	"crypto.withdrawal_failed":     onChain("crypto-withdrawal", false, true),
	"corporate.kyc_verified":       func(ctx context.Context, d *developer) error { _, err := d.kyc(ctx); return err },
	"corporate.account_created":    corporateAccount,
	"corporate.account_updated":    heldAccount,
	"settlement.low_balance":       lowBalance,
	"webhook.endpoint_failing":     failingWebhook,
	kybChanged:                     takeOn,
}

// buy buys the first data bundle for a phone number with this ending.
func buy(ending string) recipe {
	return func(ctx context.Context, d *developer) error {
		var services []struct{ ServiceID, ServiceName string }
		if err := d.api(ctx, http.MethodGet, "/api/v1/vtu/services", nil, &services); err != nil {
			return err
		}
		at := slices.IndexFunc(services, func(s struct{ ServiceID, ServiceName string }) bool { return s.ServiceName == "Data" })
		if at < 0 {
			return errors.New("no data is on sale")
		}
		var categories []struct{ ServiceCategoryID string }
		if err := d.api(ctx, http.MethodGet, "/api/v1/vtu/service/"+services[at].ServiceID+"/categories", nil, &categories); err != nil {
			return err
		}
		for _, c := range categories {
			var products []struct{ CategoryProductID string }
			if err := d.api(ctx, http.MethodGet, "/api/v1/vtu/category/"+c.ServiceCategoryID+"/products", nil, &products); err != nil {
				return err
			}
			if len(products) == 0 {
				continue
			}
			return refusable(ending, d.api(ctx, http.MethodPost, "/api/v1/vtu/purchase-data", map[string]any{
				"idempotencyKey": "trigger-" + id.New(), "serviceCategoryId": c.ServiceCategoryID, "productId": products[0].CategoryProductID,
				"phoneNumber": "080312345" + ending, "settlementId": d.SettlementID,
			}, nil))
		}
		return errors.New("no data bundle is on sale")
	}
}

// refusable accepts a 400 for the endings with which the provider refuses.
func refusable(ending string, err error) error {
	var no refusal
	if ending != "10" && errors.As(err, &no) && no.status == http.StatusBadRequest {
		return nil
	}
	return err
}

// advance moves the sandbox's clock.
func (d *developer) advance(ctx context.Context, by string) error {
	return d.sandbox(ctx, "clock", map[string]string{"advance": by}, nil)
}

// credit simulates a payment into an account.
func (d *developer) credit(ctx context.Context, account string, naira int) error {
	return d.sandbox(ctx, "credit", map[string]any{
		"accountNumber": account, "amount": naira, "senderName": "BOLA SAMPLE", "narration": "kobo trigger",
	}, nil)
}

func paidIn(ctx context.Context, d *developer) error {
	return d.credit(ctx, d.SettlementAccountNumber, 500)
}

// failingWebhook gives the company an endpoint that does not answer, and lets three
// days pass.
func failingWebhook(ctx context.Context, d *developer) error {
	var made struct{ ID string }
	err := d.api(ctx, http.MethodPost, "/api/v1/webhooks", map[string]any{
		"url": "http://127.0.0.1:1/", "description": "kobo trigger", "events": []string{"vtu.success"},
	}, &made)
	for _, do := range []func() error{
		func() error { return buy("10")(ctx, d) },
		// The first attempt starts the three days.
		func() error { return d.until(ctx, made.ID, func(h hook) bool { return h.FailingSince != nil }) },
		func() error { return d.advance(ctx, "73h") },
		func() error { return d.until(ctx, made.ID, func(h hook) bool { return h.Status == "FAILING" }) },
		func() error { return d.api(ctx, http.MethodDelete, "/api/v1/webhooks/"+made.ID, nil, nil) },
	} {
		if err == nil {
			err = do()
		}
	}
	return err
}

// hook is an endpoint as the API shows it.
type hook struct {
	Status       string
	FailingSince *string
}

// until waits until an endpoint has the wanted state.
func (d *developer) until(ctx context.Context, hookID string, is func(hook) bool) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		var h hook
		if err := d.api(ctx, http.MethodGet, "/api/v1/webhooks/"+hookID, nil, &h); err != nil || is(h) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}
