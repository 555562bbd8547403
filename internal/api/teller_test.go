package api_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/nuban"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// teller is a fake bank that opens accounts and verifies identities. It accepts the test numbers
// of the sandbox (completion.md §5).
type teller struct {
	*bank
	// The name of the BVN's owner: of the sessions that wait for an OTP, and of the confirmed sessions.
	sessions, confirmed map[string]secret.Text
	held                map[string]provider.AccountAnswer
}

func (t *teller) Start(_ context.Context, s provider.IdentityStart) provider.Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch number := s.BVN.Reveal(); {
	case strings.HasSuffix(number, "0000"):
		return provider.Answer{Outcome: provider.Rejected, Code: "400", Message: "BVN could not be verified"}
	case strings.HasSuffix(number, "0009"):
		return provider.Answer{Code: provider.CodeServerError}
	}
	if t.sessions == nil {
		t.sessions, t.confirmed = map[string]secret.Text{}, map[string]secret.Text{}
	}
	t.sessions[s.Reference] = s.Name
	if strings.HasSuffix(s.BVN.Reveal(), "0008") {
		t.sessions[s.Reference] = secret.NewText("SOMEBODY ELSE")
	}
	return provider.Answer{Outcome: provider.Confirmed, Reference: s.Reference}
}

func (t *teller) Confirm(_ context.Context, c provider.IdentityConfirm) provider.IdentityAnswer {
	t.mu.Lock()
	defer t.mu.Unlock()
	name, waits := t.sessions[c.Session]
	if !waits || c.OTP.Reveal() != "123456" {
		return provider.IdentityAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Code: "400", Message: "The OTP is not correct"}}
	}
	delete(t.sessions, c.Session)
	t.confirmed[c.Session] = name
	return provider.IdentityAnswer{Answer: provider.Answer{Outcome: provider.Confirmed, Reference: c.Session}, Holder: name}
}

func (t *teller) OpenAccount(ctx context.Context, r provider.AccountRequest) provider.AccountAnswer {
	if strings.HasSuffix(r.Phone, "02") { // the answer is lost
		return provider.AccountAnswer{Answer: provider.Answer{Code: provider.CodeTimeout}}
	}
	if !r.Corporate && !r.Proven {
		if a := t.Confirm(ctx, provider.IdentityConfirm{Session: r.IdentitySession, OTP: r.OTP}); a.Outcome != provider.Confirmed {
			return provider.AccountAnswer{Answer: a.Answer}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, known := t.held[r.CompanyRegistration]; known {
		return a
	}
	t.opened++
	number, err := nuban.Make(sandboxBank, 800_000_000+t.opened)
	if err != nil {
		panic(err)
	}
	a := provider.AccountAnswer{
		Answer:  provider.Answer{Outcome: provider.Confirmed},
		Account: provider.Account{Number: number, Name: "KOBO / ADA TESTER", BankName: "Sandbox Bank", BankCode: sandboxBank, ProviderID: fmt.Sprint(t.opened)},
		Holder:  t.confirmed[r.IdentitySession],
	}
	if r.Corporate {
		if t.held == nil {
			t.held = map[string]provider.AccountAnswer{}
		}
		t.held[r.CompanyRegistration] = a
	}
	return a
}

func (t *teller) FindAccount(context.Context, string) provider.AccountAnswer {
	return provider.AccountAnswer{Answer: provider.Answer{Missing: true}}
}
