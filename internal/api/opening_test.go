package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// While nobody knows whether an account was opened, its requests have the word being_confirmed: the same key follows the opening. A
// refusal beside a request at work is no answer of its key, which is free for the next try.
func TestAnAccountWithoutAnOutcomeIsBeingConfirmed(t *testing.T) {
	w := newWorld(t)
	_, url := w.serve(t)
	_, text := send(t, "POST", url+"/api/v1/auth/generate-token/"+w.reference, "", "x-api-key", w.given["api_key"])
	access := "Bearer " + field(t, text, "accessToken")
	post := func(path, body, key string) (*http.Response, string) {
		return send(t, "POST", url+path, body, "Authorization", access, "Content-Type", "application/json", "Idempotency-Key", key)
	}
	_, text = post("/api/v1/customer/create", `{"firstName":"Ada","lastName":"Tester","email":"ada@example.com","phoneNumber":"08012345602","bvn":"22212345678"}`, "create")
	customer := field(t, text, "data", "id")
	_, text = post("/api/v1/coop/initiate-kyc", `{"bvn":"22212345679"}`, "initiate")
	_, text = post("/api/v1/coop/validate-kyc", `{"session_id":"`+field(t, text, "data", "session_id")+`","otp":"123456"}`, "validate")
	kyc := field(t, text, "data", "kyc_id")

	for _, c := range []struct{ path, body, table, unknown, atWork string }{
		{
			"/api/v1/customer/generate-account", `{"customerId":"` + customer + `","otp":"123456"}`, "customer_account",
			"Failed to create account. The bank has not said whether it was opened. Try again.", "Failed to create account. The account is being opened. Try again in a minute.",
		},
		{
			"/api/v1/coop/generate-account", `{"phoneNumber":"08012345602","emailAddress":"ada@example.com","rn_number":"RC1234","kyc_id":"` + kyc + `"}`, "corporate_account",
			"Failed to create COOP subaccount: The bank has not said whether the account was opened. Try again.",
			"Failed to create COOP subaccount: The account is being opened. Try again in a minute.",
		},
	} {
		ask := func(key, message, replayed string) {
			t.Helper()
			answer, text := post(c.path, c.body, key)
			said := field(t, text, "message")
			if c.table == "corporate_account" {
				said += ": " + field(t, text, "error")
			}
			got := fmt.Sprint(answer.StatusCode, answer.Header.Get("Kobo-Reason"), answer.Header.Get("Idempotent-Replayed"), said)
			if want := fmt.Sprint(400, "being_confirmed", replayed, message); got != want {
				t.Errorf("%s with the key %s:\n got %s\nwant %s", c.path, key, got, want)
			}
		}
		first, second := c.table+"-1", c.table+"-2"
		ask(first, c.unknown, "")
		now := w.clock.Now()
		asking := `UPDATE ` + c.table + ` SET called_until = $2 WHERE company_id = $1`
		if _, err := w.db.Exec(t.Context(), asking, w.reference, clock.Micros(now.Add(5*time.Second))); err != nil {
			t.Fatal(err)
		}
		ask(second, c.atWork, "")
		if answer, text := send(t, "GET", url+"/api/v1/idempotency/"+second, "", "Authorization", access); answer.Header.Get("Kobo-Reason") != "not_found" {
			t.Errorf("the key of a request beside another one is used: %s", text)
		}
		w.clock.MoveTo(w.clock.Offset() + time.Minute)
		ask(second, c.unknown, "")
		ask(first, c.unknown, "")
	}
}
