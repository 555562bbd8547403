package safehaven

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// way is one test case: a recorded reply to a transfer or to a requery of its status, with the
// expected result.
type way struct {
	fixture
	Session  string
	Reversed bool
}

func checkWays(t *testing.T, file string, call func(p *Plug) provider.TransferAnswer) {
	var all []way
	fixtures(t, file, &all)
	for _, f := range all {
		t.Run(f.Name, func(t *testing.T) {
			s := serve(t)
			s.says(f.Status, f.Body)
			got := call(s.plug(t, s.config(), clock.System{}))
			f.check(t, got.Answer)
			if got.SessionID != f.Session || got.Reversed != f.Reversed {
				t.Errorf("session %q, reversed %v; want %q, %v", got.SessionID, got.Reversed, f.Session, f.Reversed)
			}
		})
	}
}

func TestRecordedTransfers(t *testing.T) {
	checkWays(t, "transfers.json", func(p *Plug) provider.TransferAnswer {
		return p.Transfer(context.Background(), provider.TransferOrder{Reference: "our-reference", Amount: 150_050})
	})
}

func TestRecordedStatuses(t *testing.T) {
	checkWays(t, "statuses.json", func(p *Plug) provider.TransferAnswer {
		return p.RequeryTransfer(context.Background(), "our-reference")
	})
}

func TestRecordedNotifications(t *testing.T) {
	var all []struct {
		Name, Want string
		Body       json.RawMessage
	}
	fixtures(t, "notifications.json", &all)
	for _, f := range all {
		n, err := new(Plug).ParseNotification(f.Body)
		got := fmt.Sprint(string(n.Kind), " ", n.SessionID, " ", n.ProviderID, " ", n.Reference, " ", n.Account, " ", n.Amount)
		if err != nil {
			got = "error"
		}
		if got != f.Want {
			t.Errorf("%s: %q (%v)\nwant %q", f.Name, got, err, f.Want)
		}
	}
	for _, body := range []string{"", "{", "null ", `{"type":"transfer","data":null}`} {
		if n, err := new(Plug).ParseNotification([]byte(body)); err == nil && n.Kind != provider.Unrecognised {
			t.Errorf("%q: %+v", body, n)
		}
	}
}

// The request bodies match the examples in Safe Haven's documentation byte for byte.
func TestBankBodies(t *testing.T) {
	const one = `{"statusCode":200,"responseCode":"00","data":{"_id":"1","status":"SUCCESS","accountNumber":"8010000011","accountName":"ACME","sessionId":"s"}}`
	for _, c := range []struct {
		name string
		call func(context.Context, *Plug)
		path string
		want string
	}{
		{"start", func(ctx context.Context, p *Plug) {
			p.Start(ctx, provider.IdentityStart{Reference: "r", BVN: secret.NewText("22222222222")})
		}, "/identity/v2", `{"type":"BVN","number":"22222222222","debitAccountNumber":"0100000001","async":false}`},
		{"confirm", func(ctx context.Context, p *Plug) {
			p.Confirm(ctx, provider.IdentityConfirm{Session: "i", OTP: secret.NewText("012345")})
		}, "/identity/v2/validate", `{"identityId":"i","type":"BVN","otp":"012345"}`},
		{"a person", func(ctx context.Context, p *Plug) {
			p.OpenAccount(ctx, provider.AccountRequest{
				Reference: "r", Phone: "0803 123 4588", Email: "a@b.c", IdentitySession: "i",
				IdentityNumber: secret.NewText("22222222222"), OTP: secret.NewText("012345"), CallbackURL: "https://us.example.test/x",
			})
		}, "/accounts/v2/subaccount", `{"phoneNumber":"+2348031234588","emailAddress":"a@b.c","externalReference":"r","identityType":"BVN","identityNumber":"22222222222",` +
			`"identityId":"i","otp":"012345","callbackUrl":"https://us.example.test/x","autoSweep":true,"autoSweepDetails":{"schedule":"Instant","accountNumber":"0100000001"}}`},
		{"a person whose identity is proven", func(ctx context.Context, p *Plug) {
			p.OpenAccount(ctx, provider.AccountRequest{Reference: "r", Phone: "08031234588", Email: "a@b.c", Proven: true, IdentitySession: "i"})
		}, "/accounts/v2/subaccount", `{"phoneNumber":"+2348031234588","emailAddress":"a@b.c","externalReference":"r","identityType":"vID",` +
			`"identityId":"i","autoSweep":true,"autoSweepDetails":{"schedule":"Instant","accountNumber":"0100000001"}}`},
		{"a company", func(ctx context.Context, p *Plug) {
			p.OpenAccount(ctx, provider.AccountRequest{
				Reference: "r", Phone: "2348031234588", Email: "a@b.c", Corporate: true, IdentitySession: "i",
				CompanyRegistration: "RC1", IdentityNumber: secret.NewText("22222222222"),
			})
		}, "/accounts/v2/subaccount", `{"phoneNumber":"+2348031234588","emailAddress":"a@b.c","externalReference":"r","identityType":"vID",` +
			`"identityId":"i","companyRegistrationNumber":"RC1","autoSweep":true,"autoSweepDetails":{"schedule":"Instant","accountNumber":"0100000001"}}`},
		{"a virtual account", func(ctx context.Context, p *Plug) {
			p.OpenVirtualAccount(ctx, provider.VirtualAccountRequest{Reference: "r", Amount: 2500 * money.Naira, CallbackURL: "https://us.example.test/x"})
		}, "/virtual-accounts", `{"validFor":900,"callbackUrl":"https://us.example.test/x","settlementAccount":{"bankCode":"090286","accountNumber":"0100000001"},` +
			`"amountControl":"Fixed","amount":2500,"externalReference":"r"}`},
		{
			"a name", func(ctx context.Context, p *Plug) { p.NameEnquiry(ctx, "000001", "0123456789") },
			"/transfers/name-enquiry", `{"bankCode":"000001","accountNumber":"0123456789"}`,
		},
		{"a transfer", func(ctx context.Context, p *Plug) {
			p.Transfer(ctx, provider.TransferOrder{Reference: "r", NameEnquirySession: "s", BankCode: "000001", Account: "0123456789", Amount: 150_050, Narration: "rent"})
		}, "/transfers", `{"nameEnquiryReference":"s","debitAccountNumber":"0100000001","beneficiaryBankCode":"000001","beneficiaryAccountNumber":"0123456789",` +
			`"amount":1500.5,"saveBeneficiary":false,"narration":"rent","paymentReference":"r"}`},
		{"its status", func(ctx context.Context, p *Plug) { p.RequeryTransfer(ctx, "r") }, "/transfers/status", `{"paymentReference":"r"}`},
		{"a credit", func(ctx context.Context, p *Plug) { p.Inbound(ctx, "s", false) }, "/transfers/status", `{"sessionId":"s"}`},
		{"a credit of a virtual account", func(ctx context.Context, p *Plug) { p.Inbound(ctx, "s", true) }, "/virtual-accounts/status", `{"sessionId":"s"}`},
	} {
		s := serve(t)
		var path string
		s.answer = func(w http.ResponseWriter, r *http.Request) {
			path = r.URL.Path
			_, _ = io.WriteString(w, one)
		}
		c.call(t.Context(), s.plug(t, s.config(), clock.System{}))
		if _, sent := s.seen(); len(sent) != 1 || sent[0] != c.want || path != c.path {
			t.Errorf("%s: to %s\n got %s\nwant %s", c.name, path, sent, c.want)
		}
	}
}

// The name in the BVN's record is read where a reply has it, and is never printed.
func TestTheNameInTheRecord(t *testing.T) {
	s := serve(t)
	for body, want := range map[string]string{
		`"providerResponse":{"firstName":"ADA","middleName":"N","lastName":"TESTER"},"subAccountDetails":{"firstName":"ADA","middleName":"N","lastName":"TESTER"}`: "ADA N TESTER",
		`"providerResponse":"none","subAccountDetails":["ADA"]`:                                     "",
		`"providerResponse":{"firstName":7},"subAccountDetails":{"firstName":7,"lastName":{"a":1}}`: "7",
		`"providerResponse":null,"subAccountDetails":null`:                                          "",
	} {
		s.says(200, []byte(`{"statusCode":200,"responseCode":"00","data":{"_id":"1","status":"SUCCESS","accountNumber":"8010000011",`+body+`}}`))
		p := s.plug(t, s.config(), clock.System{})
		proven := p.Confirm(t.Context(), provider.IdentityConfirm{Session: "i", OTP: secret.NewText("012345")})
		opened := p.OpenAccount(t.Context(), provider.AccountRequest{Reference: "r"})
		if proven.Outcome != provider.Confirmed || opened.Outcome != provider.Confirmed || proven.Holder.Reveal() != want || opened.Holder.Reveal() != want {
			t.Errorf("%s: %q and %q", body, proven.Holder.Reveal(), opened.Holder.Reveal())
		}
		if shown := fmt.Sprintf("%+v %+v", proven, opened); strings.Contains(shown, "TESTER") {
			t.Error(shown)
		}
	}
}

// An Answer that is printed shows no BVN and no OTP, even if the provider's message contains them.
func TestAnswersHidePersonalData(t *testing.T) {
	s := serve(t)
	s.says(400, []byte(`{"statusCode":400,"message":"BVN 22222222222 and OTP 012345678 do not match ada@example.test"}`))
	p := s.plug(t, s.config(), clock.System{})
	start := provider.IdentityStart{BVN: secret.NewText("22222222222")}
	shown := fmt.Sprintf("%+v %+v", start, p.Start(t.Context(), start))
	if strings.Contains(shown, "2222222") || strings.Contains(shown, "012345") || strings.Contains(shown, "ada@") {
		t.Error(shown)
	}
}

// FindAccount reports an account as missing only after it has read the list to its end.
func TestListsAreReadToTheirEnd(t *testing.T) {
	s := serve(t)
	var asked []string
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		body := `{"statusCode":200,"data":[{"_id":"1","accountNumber":"8010000011","externalReference":"other"}],"pagination":{"total":3,"pages":3,"page":"0","limit":"100"}}`
		if r.URL.Query().Get("page") == "2" {
			body = `{"statusCode":200,"data":[{"_id":"3","accountNumber":8010000038,"accountName":"ACME","externalReference":"ours"}],"pagination":{"pages":"3"}}`
		}
		_, _ = io.WriteString(w, body)
	}
	p := s.plug(t, s.config(), clock.System{})
	if a := p.FindAccount(t.Context(), "ours"); a.Outcome != provider.Confirmed || a.Number != "8010000038" || a.BankCode != liveBankCode {
		t.Errorf("%+v", a)
	}
	if a := p.FindAccount(t.Context(), "nobody's"); a.Outcome != provider.Unknown || !a.Missing {
		t.Errorf("%+v", a)
	}
	if len(asked) != 6 || asked[0] != "isSubAccount=true&page=0&limit=100" || asked[5] != "isSubAccount=true&page=2&limit=100" {
		t.Errorf("%q", asked)
	}
}

func TestDaysAreAskedForWhole(t *testing.T) {
	from := time.Date(2030, 1, 2, 0, 30, 0, 0, time.FixedZone("WAT", 3600))
	if got := days(from, noon); got != "&fromDate=2030-01-01&toDate=2030-01-03" {
		t.Error(got)
	}
}

// In reply to a requery, the bank's message "Fetched successfully" describes the requery itself.
// The plug does not return it as the message of a failed purchase.
func TestARequeryPassesOnReasonsOnly(t *testing.T) {
	s := serve(t)
	p := s.plug(t, s.config(), clock.System{})
	for body, want := range map[string]string{
		`{"statusCode":200,"message":"Transaction fetched successfully.","data":{"transactionStatus":"failed"}}`:                                          "",
		`{"statusCode":200,"message":"Transaction fetched successfully.","data":{"transactionStatus":"failed","responseMessage":"The number is barred"}}`: "The number is barred",
		`{"statusCode":404,"message":"Transaction not found"}`:                                                                                            "",
	} {
		s.says(200, []byte(body))
		if a := p.Requery(t.Context(), provider.Sale{Reference: "our-reference"}); a.Message != want {
			t.Errorf("%s: %q", body, a.Message)
		}
	}
	s.says(200, []byte(`{"statusCode":200,"message":"Transfer status fetched","data":{"status":"Failed","responseCode":"05","responseMessage":"Do not honour"}}`))
	if a := p.RequeryTransfer(t.Context(), "our-reference"); a.Message != "Do not honour" {
		t.Errorf("%q", a.Message)
	}
}
