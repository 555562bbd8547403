package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/money"
)

// actTitles are the names of acts without a form among the changes.
var actTitles = map[string]string{
	"moveKYB": "KYB", "setLive": "Live access", "setAccountStatus": "State of a settlement account", "setCardAddress": "Address of cards",
	"eraseCustomer": "Erase a customer", "setDoor": "API access of all companies", "createProductPair": "Pair of products", "deleteProductPair": "End a pair of products",
	"invitePerson": "Invite a person of the company", "setPersonRole": "Role of a person of the company", "endPerson": "End a person's access",
	"addOperator": "New operator", "inviteOperator": "Invite an operator", "setOperatorRole": "Role of an operator", "removeOperator": "Remove an operator",
}

// actTitle returns the name of an operation of the operators' API, as people say it.
func actTitle(operation string) string {
	if i := slices.IndexFunc(changes, func(c change) bool { return c.operation == operation }); i >= 0 {
		return changes[i].title
	}
	if title := actTitles[operation]; title != "" {
		return title
	}
	return actWords(operation)
}

// namesOf returns what the acts of a proposal are about, in words.
func namesOf(p admin.ProposedActs) string {
	var names []string
	for _, a := range p.Acts {
		if title := actTitle(a.Operation); !slices.Contains(names, title) {
			names = append(names, title)
		}
	}
	return strings.Join(names, ", ")
}

// saying makes a function that reads the body of an act, and returns the sentences of what the act does.
func saying[B any](do func(a about, act admin.ProposedAct, body B) []string) func(about, admin.ProposedAct) []string {
	return func(a about, act admin.ProposedAct) []string {
		var body B
		if json.Unmarshal(act.Body, &body) != nil {
			return nil // the page then shows the fields of the body as they are
		}
		return do(a, act, body)
	}
}

// says returns the sentences of what an operation does. The person who asks for it and the one who approves it read the same ones.
func (a about) says(operation, id string, body any) []string {
	text, err := json.Marshal(body)
	if err != nil {
		return nil // no body of the operators' API fails
	}
	return a.actSays(admin.ProposedAct{Operation: operation, ID: &id, Body: text})
}

// actSays returns the sentences of what an act does. There are none for an operation that needs none, such as a pair of products.
func (a about) actSays(act admin.ProposedAct) []string {
	if say := sayings[act.Operation]; say != nil {
		return say(a, act)
	}
	return nil
}

var sayings = map[string]func(about, admin.ProposedAct) []string{
	"moveKYB": saying(kybSays),
	"setLive": saying(liveSays),
	"createAccount": saying(func(_ about, _ admin.ProposedAct, b admin.AccountRequest) []string {
		return []string{"The settlement account " + b.Name + " opens with ₦0.00."}
	}),
	"setAccountStatus": saying(accountStatusSays), "setAccountAlert": saying(alertSays), "attachBankAccount": saying(bankAccountSays),
	"setFees": saying(feesSays), "setLimit": saying(limitSays), "setQuota": saying(quotaSays), "setRequestLimit": saying(requestLimitSays),
	"issueKey": saying(keySays), "setXpub": saying(xpubSays), "eraseCustomer": saying(erasureSays), "setDoor": saying(doorSays),
	"resetPIN": saying(func(a about, _ admin.ProposedAct, _ struct{}) []string {
		return []string{"A token is made, with which " + a.Name + " sets a PIN once.", "A PIN that the company has works until then."}
	}),
	"unlockPIN": saying(func(a about, _ admin.ProposedAct, _ struct{}) []string {
		return []string{"The PIN of " + a.Name + " works again. Five wrong PINs in a row lock it again."}
	}),
	"invitePerson": saying(func(a about, _ admin.ProposedAct, b admin.PersonRequest) []string {
		return []string{b.Name + " can sign in to the pages of " + a.Name + " by the link of the invitation, with the role " + b.Role + "."}
	}),
	"inviteOperator": saying(func(_ about, _ admin.ProposedAct, b admin.InvitationRequest) []string {
		return []string{b.Name + " can sign in as an operator by the link of the invitation, with the role " + b.Role + "."}
	}),
	"addOperator": saying(func(_ about, _ admin.ProposedAct, b admin.OperatorRequest) []string {
		return []string{b.Name + " becomes an operator with the role " + b.Role + ", and uses the operators' API with the key whose digest is " + b.KeyDigest + "."}
	}),
	"setPersonRole": saying(func(a about, act admin.ProposedAct, b admin.PersonRoleRequest) []string {
		return []string{whom(act) + " gets the role " + b.Role + " at the pages of " + a.Name + "."}
	}),
	"setOperatorRole": saying(func(_ about, act admin.ProposedAct, b admin.RoleRequest) []string {
		return []string{whom(act) + " gets the role " + b.Role + " among the operators."}
	}),
}

// whom returns the name of the person whose role an act changes.
func whom(act admin.ProposedAct) string {
	if _, name, found := strings.Cut(optional(act.On), "/"); found {
		return name
	}
	return optional(act.ID)
}

// because adds the reason to a sentence without its full stop.
func because(sentence, reason string) string {
	if reason == "" {
		return sentence + "."
	}
	return sentence + ". The reason: " + reason
}

func kybSays(a about, _ admin.ProposedAct, b admin.KYBRequest) []string {
	switch b.Status {
	case "APPROVED":
		return []string{because("The KYB of "+a.Name+" is approved", b.Reason)}
	case "REJECTED":
		return append([]string{because("The KYB of "+a.Name+" is rejected", b.Reason)}, a.closes()...)
	case "CHANGES_REQUESTED":
		return []string{because(a.Name+" must change something for its KYB", b.Reason)}
	}
	return append([]string{because("The KYB of "+a.Name+" moves to “"+words(b.Status)+"”", b.Reason)}, a.closes()...)
}

// mayCall reports whether the API is open to the company.
func (a about) mayCall() bool {
	return a.Live && (a.KybStatus == string(company.Approved) || a.KybStatus == string(company.ChangesRequested))
}

// closes warns that a move of the KYB closes the API to a company that can use it now.
func (a about) closes() []string {
	if a.mayCall() {
		return []string{"This closes the API to " + a.Name + ", which can use it now."}
	}
	return nil
}

func liveSays(a about, _ admin.ProposedAct, b admin.LiveRequest) []string {
	if b.Live {
		return []string{"Live access is on: with an approved KYB " + a.Name + " can move money by its keys."}
	}
	return []string{"Live access is off: requests of " + a.Name + " with a key are refused. Payments that have begun go on."}
}

// accountWords names a settlement account of the company by its number.
func (a about) accountWords(id string) string {
	if one := a.account(id); one != nil {
		return id + " · " + one.Name
	}
	return id
}

func accountStatusSays(a about, act admin.ProposedAct, b admin.StatusRequest) []string {
	return []string{because("The settlement account "+a.accountWords(optional(act.ID))+" of "+a.Name+" is "+words(b.Status)+" from then on", b.Reason)}
}

func alertSays(a about, act admin.ProposedAct, b admin.AlertRequest) []string {
	if b.LowBalance == nil {
		return []string{"The company gets no alert about account " + a.accountWords(optional(act.ID)) + "."}
	}
	return []string{"The company gets an alert when account " + a.accountWords(optional(act.ID)) + " falls below " + naira(*b.LowBalance) + "."}
}

func bankAccountSays(a about, act admin.ProposedAct, b admin.BankAccountRequest) []string {
	return []string{fmt.Sprintf("Money that arrives in the bank account %s of %s at %s then belongs to the settlement account %s of %s.",
		b.AccountNumber, b.AccountName, providerName(b.Bank), a.accountWords(optional(act.ID)), a.Name)}
}

func feesSays(a about, _ admin.ProposedAct, b admin.FeesRequest) []string {
	if len(b.Bands) == 0 {
		return []string{"From the next payout on, payouts of " + a.Name + " are free."}
	}
	says := []string{"The fee of a payout, from the next payout of " + a.Name + " on:"}
	for _, band := range b.Bands {
		says = append(says, sentence(fromWords(admin.Band(band)))+".")
	}
	return says
}

// fromWords returns a band of a fee schedule in words.
func fromWords(b admin.Band) string { return "from " + naira(b.From) + ": " + bandWords(b) }

func limitSays(a about, _ admin.ProposedAct, b admin.LimitRequest) []string {
	of := a.Name
	if b.SettlementID != 0 {
		of = "account " + a.accountWords(itoa(b.SettlementID)) + " of " + a.Name
	}
	return []string{"On a Lagos day " + of + " can make " + limitWords(b.Amount, b.Payouts) + ". Today's payouts count."}
}

// limitWords returns how many payouts of which amount a limit allows. 0 is no limit.
func limitWords(sum money.Kobo, payouts int64) string {
	most, total := "any number of payouts", "without a limit of their amount"
	if payouts > 0 {
		most = thousands(itoa(payouts)) + " payouts"
	}
	if sum > 0 {
		total = "of at most " + naira(sum) + " in all"
	}
	return most + ", " + total
}

func quotaSays(a about, _ admin.ProposedAct, b admin.QuotaRequest) []string {
	if b.Most == 0 {
		return []string{a.Name + " has no quota of " + label(quotaKinds, b.Kind) + " any more."}
	}
	return []string{fmt.Sprintf("%s can use at most %s %s a day. What began today counts.", a.Name, thousands(itoa(b.Most)), label(quotaKinds, b.Kind))}
}

func requestLimitSays(a about, _ admin.ProposedAct, b admin.RequestLimitRequest) []string {
	if b.RequestsPerSecond == 0 {
		return []string{"The limit of the deployment holds for " + a.Name + "."}
	}
	return []string{fmt.Sprintf("%s may make %s requests a second. Further requests are refused with 429.", a.Name, thousands(itoa(b.RequestsPerSecond)))}
}

func keySays(a about, _ admin.ProposedAct, b admin.KeyRequest) []string {
	says := a.Name + " gets a new API key, which does not expire."
	if b.ExpiresAt != "" {
		says = a.Name + " gets a new API key, which works until " + inLagos(b.ExpiresAt) + "."
	}
	return []string{says, "The key is shown once, to the person whose click makes it."}
}

func xpubSays(a about, _ admin.ProposedAct, b admin.XpubRequest) []string {
	return []string{
		"New addresses of " + sentence(words(b.Chain)) + " for " + a.Name + " come from this key: " + b.Xpub,
		"Addresses that exist keep the key that made them.",
	}
}

func erasureSays(a about, act admin.ProposedAct, _ struct{}) []string {
	return []string{
		"The name, the contact data and the address of the customer " + optional(act.ID) + " are struck out, and " + a.Name + " no longer sees the customer.",
		"Nobody can undo it.",
	}
}

func doorSays(_ about, _ admin.ProposedAct, b admin.DoorRequest) []string {
	if b.Closed {
		return []string{because("The API is closed to all companies", b.Reason)}
	}
	return []string{"The API is open to all companies again."}
}

// wasWords returns the value that an act changes, as people say it.
func wasWords(operation, was string) string {
	switch operation {
	case "setLimit":
		amount, rest, _ := strings.Cut(was, ", ")
		sum, err := money.Parse(amount)
		payouts, wrong := strconv.ParseInt(strings.TrimSuffix(rest, " payouts"), 10, 64)
		if err == nil && wrong == nil {
			return limitWords(sum, payouts)
		}
	case "setQuota":
		if most, err := strconv.ParseInt(was, 10, 64); err == nil {
			return mostOf(admin.Quota{Most: most})
		}
	case "setFees":
		return feesBefore(was)
	case "setRequestLimit":
		return strings.Replace(was, " per second", " requests a second", 1)
	case "moveKYB", "setLive":
		kyb, rest, _ := strings.Cut(was, ", live ")
		live, holders, isWhole := strings.Cut(rest, ", ")
		if isWhole {
			return "KYB " + words(kyb) + ", live access " + map[string]string{"true": "on", "false": "off"}[live] + ", " + inLagos(holders)
		}
	}
	return inLagos(was)
}

// feesBefore reads a fee schedule in the operators' notation, in which each band is from:flat:percent:cap.
func feesBefore(was string) string {
	if was == "none" {
		return "payouts are free"
	}
	var bands []string
	for _, text := range strings.Fields(was) {
		var b admin.Band
		to := []*money.Kobo{&b.From, &b.Flat, &b.Percent, &b.Cap}
		parts := strings.Split(text, ":")
		if len(parts) != len(to) {
			return was
		}
		for i, part := range parts {
			var err error
			if *to[i], err = money.Parse(part); err != nil {
				return was
			}
		}
		bands = append(bands, fromWords(b))
	}
	return strings.Join(bands, "; ")
}
