package kobo_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	kobo "github.com/kobo-waas/kobo/clients/go"
	"github.com/kobo-waas/kobo/clients/go/api"
)

// The examples are the snippets of docs/clients.md. They compile, and TestDocs compares the two.

func ExampleNew() {
	client, err := kobo.New("http://127.0.0.1:8080", os.Getenv("KOBO_REFERENCE"), os.Getenv("KOBO_API_KEY"), kobo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	accounts, err := client.API().ListSettlementAccountsWithResponse(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, account := range accounts.JSON200.Data {
		fmt.Println(account.Name, account.Balance)
	}
}

func ExampleClient_SendPayout() {
	var ctx context.Context
	var client *kobo.Client
	var store func(key string, order api.PayoutOrder)
	var succeeded func(reference string)
	var declined func(reason kobo.Reason, message string)

	checked, err := client.API().ValidateAccountWithResponse(ctx, nil, api.AccountValidation{
		BankCode: "000014", AccountNumber: "0123456702", Pin: os.Getenv("KOBO_PIN"), FromSettlementID: 1,
	})
	if err != nil {
		log.Fatal(err)
	}
	// snippet payout
	key := kobo.NewKey()
	order := api.PayoutOrder{VerifyID: checked.JSON200.Data.ID, Amount: 5000_00, Narration: "Rent"}
	store(key, order) // first of all, so that a crash forgets neither

	out := client.SendPayout(ctx, key, order)
	if unknown, ok := out.(kobo.Unknown); ok {
		out, err = unknown.Follow(ctx)
	}
	switch out := out.(type) {
	case kobo.Succeeded:
		succeeded(out.Reference)
	case kobo.Declined:
		declined(out.Reason, out.Message)
	case kobo.Unknown:
		log.Print(err) // still open: send the stored order again later, with its key
	}
	// end snippet
}

func ExampleRefusal() {
	var ctx context.Context
	var client *kobo.Client

	_, err := client.API().FindCustomerWithResponse(ctx, "unknown")
	var refusal *kobo.Refusal
	if errors.As(err, &refusal) && refusal.Reason == api.NotFound {
		fmt.Println("no such customer")
	}
}

func ExampleClient_API() {
	var ctx context.Context
	var client *kobo.Client
	var apiKeyID, pin string

	answer, err := client.API().RevokeAPIKeyWithResponse(ctx, apiKeyID, api.APIKeyRevocation{Pin: pin})
	if err != nil {
		log.Fatal(err)
	}
	if waiting := answer.JSON202; waiting != nil {
		fmt.Println("the key still works, and a second person decides about", waiting.Data.ID)
	}
}

func ExampleClient_LedgerEntries() {
	var ctx context.Context
	var client *kobo.Client

	from := "2030-01-02"
	for entry, err := range client.LedgerEntries(ctx, api.ListLedgerEntriesParams{From: &from}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.CreatedAt, entry.Type, entry.Amount, entry.Reference)
	}
}

func ExampleClient_Consume() {
	var ctx context.Context
	var client *kobo.Client

	err := client.Consume(ctx, kobo.FilePlace("kobo.place"), func(ctx context.Context, e kobo.Event) error {
		fmt.Println(e.Sequence, e.Event, string(e.Data))
		return nil
	})
	log.Print(err)
}

// Books is a Place in the caller's own database.
type Books struct{ db *sql.DB }

func (b Books) Load(ctx context.Context) (sequence int64, err error) {
	err = b.db.QueryRowContext(ctx, "SELECT sequence FROM kobo_place").Scan(&sequence)
	return sequence, err
}

// Save does nothing, because handle saves the place.
func (b Books) Save(context.Context, int64) error { return nil }

func (b Books) handle(ctx context.Context, e kobo.Event) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE kobo_place SET sequence = ?", e.Sequence); err != nil {
		return err
	}
	// … and what the event changes in the same transaction.
	return tx.Commit()
}

func ExamplePlace() {
	var ctx context.Context
	var client *kobo.Client
	var books Books

	log.Print(client.Consume(ctx, books, books.handle))
}

func ExampleVerifyWebhook() {
	var known func(id string) bool
	var store func(kobo.Event) error

	http.HandleFunc("POST /hooks/kobo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "too large", http.StatusBadRequest)
			return
		}
		event, err := kobo.VerifyWebhook(os.Getenv("KOBO_WEBHOOK_SECRET"), r.Header, body)
		if err != nil {
			http.Error(w, "not genuine", http.StatusUnauthorized)
			return
		}
		if !known(event.ID) {
			if err := store(event); err != nil {
				http.Error(w, "try again", http.StatusServiceUnavailable)
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func ExampleVerifyReceipt() {
	text, err := os.ReadFile("receipt.json") // the response of GET /api/v1/receipts/{reference}
	if err != nil {
		log.Fatal(err)
	}
	var answer struct{ Data api.Receipt }
	if err := json.Unmarshal(text, &answer); err != nil {
		log.Fatal(err)
	}
	proven, err := kobo.VerifyReceipt(answer.Data, os.Getenv("KOBO_CHECKPOINT_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(proven.Company, proven.Table, proven.Row["reference"], proven.At.Format(time.RFC3339))
}
