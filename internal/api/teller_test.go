package api_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/nuban"
	"github.com/kobo-waas/kobo/internal/provider"
)

// teller is a fake bank that opens accounts and verifies identities. It accepts the test numbers
// of the sandbox (completion.md §5).
type teller struct {
	*bank
	sessions map[string]bool // sessions that wait for an OTP
	held     map[string]provider.AccountAnswer
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
		t.sessions = map[string]bool{}
	}
	t.sessions[s.Reference] = true
	return provider.Answer{Outcome: provider.Confirmed, Reference: s.Reference}
}

func (t *teller) Confirm(_ context.Context, c provider.IdentityConfirm) provider.Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sessions[c.Session] || c.OTP.Reveal() != "123456" {
		return provider.Answer{Outcome: provider.Rejected, Code: "400", Message: "The OTP is not correct"}
	}
	delete(t.sessions, c.Session)
	return provider.Answer{Outcome: provider.Confirmed, Reference: c.Session}
}

func (t *teller) OpenAccount(ctx context.Context, r provider.AccountRequest) provider.AccountAnswer {
	if !r.Corporate {
		if a := t.Confirm(ctx, provider.IdentityConfirm{Session: r.IdentitySession, OTP: r.OTP}); a.Outcome != provider.Confirmed {
			return provider.AccountAnswer{Answer: a}
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
