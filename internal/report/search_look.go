package report

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/inbox"
)

// The functions below find things of all companies by one index each.

func anythingByID(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	at, err := find(ctx, q, text)
	if fault.Is(err, fault.Missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch at.kind {
	case "operation":
		return operationsIn(ctx, q, at.company, at.id)
	case "request":
		return byRequest(ctx, q, text) // its page has the request's id, not the id of the row
	}
	return []Hit{{Kind: at.kind, Company: at.company, ID: at.id}}, nil
}

// operationsIn returns an operation with its amount.
func operationsIn(ctx context.Context, q db.Querier, company, reference string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT kind, company_id, id, '', amount_kobo, created_at FROM operation WHERE company_id = $1 AND id = $2`, company, reference)
}

func customersByID(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', company_id, id, first_name || ' ' || last_name, 0, created_at
		FROM customer WHERE id = $1 AND erased_at = 0`, text)
}

// cardsByID goes through the companies, and looks for the card in each by key.
func cardsByID(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'card', t.company_id, t.id, '', 0, t.created_at FROM ledger_head AS h
		CROSS JOIN card AS t WHERE t.company_id = h.company_id AND t.id = $1`, text)
}

func companyByReference(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'company', company_id, company_id, name, 0, created_at FROM company WHERE company_id = $1`, strings.ToLower(text))
}

// companiesByName finds companies of whose name a word begins with the text.
func companiesByName(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	begins := likely(strings.ToLower(text))
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'company', company_id, company_id, name, 0, created_at FROM company
		WHERE lower(name) LIKE $1 ESCAPE '\' OR lower(name) LIKE $2 ESCAPE '\' ORDER BY name, company_id LIMIT $3`, begins, "% "+begins, atMost+1)
}

// likely returns a pattern for texts that begin with a text.
func likely(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

func byEmail(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', c.company_id, c.id, c.first_name || ' ' || c.last_name, 0, c.created_at
		FROM customer_email AS e JOIN customer AS c ON c.company_id = e.company_id AND c.id = e.customer_id
		WHERE e.email = $1 AND c.erased_at = 0 ORDER BY c.company_id LIMIT $2`, text, atMost+1)
}

// byPhone finds the customers with a phone number in the national form, such as 08031234567. Companies also
// write the international form.
func byPhone(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', company_id, id, first_name || ' ' || last_name, 0, created_at
		FROM customer WHERE phone_number IN ($1, $2, $3) AND erased_at = 0 ORDER BY company_id, id LIMIT $4`, text, "234"+text[1:], "+234"+text[1:], atMost+1)
}

func purchasesForPhone(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'vtu', o.company_id, o.id, '', o.amount_kobo, o.created_at
		FROM (SELECT company_id, id, created_at FROM vtu_purchase WHERE phone_number = $1 AND phone_number <> '' ORDER BY created_at DESC LIMIT $2) AS p
		CROSS JOIN operation AS o WHERE o.company_id = p.company_id AND o.id = p.id ORDER BY p.created_at DESC`, text, atMost+1)
}

func byMeter(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	meters, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'vtu', o.company_id, o.id, '', o.amount_kobo, o.created_at
		FROM (SELECT company_id, id, created_at FROM vtu_purchase WHERE meter_number = $1 AND meter_number <> '' ORDER BY created_at DESC LIMIT $2) AS p
		CROSS JOIN operation AS o WHERE o.company_id = p.company_id AND o.id = p.id ORDER BY p.created_at DESC`, text, atMost+1)
	if err != nil || len(meters) > 0 {
		return meters, err
	}
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'vtu', o.company_id, o.id, '', o.amount_kobo, o.created_at
		FROM (SELECT company_id, id, created_at FROM vtu_purchase WHERE card_number = $1 AND card_number <> '' ORDER BY created_at DESC LIMIT $2) AS p
		CROSS JOIN operation AS o WHERE o.company_id = p.company_id AND o.id = p.id ORDER BY p.created_at DESC`, text, atMost+1)
}

func bankAccounts(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'settlement account', a.company_id, CAST(a.id AS TEXT), a.name, 0, a.created_at
		FROM settlement_directory AS d CROSS JOIN settlement_bank_account AS b CROSS JOIN settlement_account AS a
		WHERE d.account_number = $1 AND b.company_id = d.company_id AND b.account_number = d.account_number AND b.bank_code = d.bank_code
			AND a.company_id = b.company_id AND a.id = b.settlement_id LIMIT $2`, text, atMost+1)
}

func customersByAccount(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', c.company_id, c.id, c.first_name || ' ' || c.last_name, 0, c.created_at
		FROM customer_account AS a CROSS JOIN customer AS c
		WHERE a.account_number = $1 AND a.account_number <> '' AND c.company_id = a.company_id AND c.id = a.customer_id AND c.erased_at = 0 LIMIT $2`, text, atMost+1)
}

func collectionsByAccount(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'collection', company_id, id, '', amount_kobo, created_at FROM collection
		WHERE account_number = $1 AND account_number <> '' ORDER BY company_id, id DESC LIMIT $2`, text, atMost+1)
}

// payoutsTo returns the latest payouts to an account. Most names that were asked for were then paid, so the
// 50 latest names are enough.
func payoutsTo(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT o.kind, o.company_id, o.id, '', o.amount_kobo, o.created_at
		FROM (SELECT company_id, id, created_at FROM payout_verification WHERE account_number = $1 ORDER BY created_at DESC LIMIT 50) AS v
		CROSS JOIN operation AS o WHERE o.company_id = v.company_id AND o.id = v.id ORDER BY v.created_at DESC LIMIT $2`, text, atMost+1)
}

func byOwnReference(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	labels, err := db.All(ctx, q, db.Fields[Hit], `SELECT kind, company_id, id, '', 0, created_at FROM operation_label
		WHERE external_reference = $1 AND external_reference <> '' ORDER BY company_id, id LIMIT $2`, text, atMost+1)
	if err != nil {
		return nil, err
	}
	waiting, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'collection', company_id, id, '', amount_kobo, created_at FROM collection
		WHERE external_reference = $1 ORDER BY company_id, id LIMIT $2`, text, atMost+1)
	return slices.Concat(labels, waiting), err
}

// byProviderReference finds operations by a reference of the provider's own. If it is our reference, the
// operation is found by its ID.
func byProviderReference(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	return db.All(ctx, q, db.Fields[Hit], `SELECT kind, company_id, id, '', amount_kobo, created_at FROM operation
		WHERE provider_reference = $1 AND provider_reference <> '' AND provider_reference <> id ORDER BY company_id, id LIMIT $2`, text, atMost+1)
}

// casesAbout finds the cases with a subject, such as the bank's reference of a line that our ledger lacks. The name of the bank before it
// may be left out. Open cases come first, and then the newest.
func casesAbout(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	names, err := banks(ctx, q)
	if err != nil {
		return nil, err
	}
	subjects := []string{text}
	for _, bank := range names {
		subjects = append(subjects, inbox.Subject(bank, text))
	}
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'case', company_id, id, '', amount_kobo, created_at FROM operation_case
		WHERE subject = ANY($1) ORDER BY state = 'OPEN' DESC, created_at DESC, id LIMIT $2`, subjects, atMost+1)
}

// banks returns the names of the banks whose credits are polled. Cases and credits have the name beside the bank's reference.
func banks(ctx context.Context, q db.Querier) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT provider FROM inbox_sweep WHERE company_id = $1`, inbox.House)
}

// byHash finds the deposits of a transaction on a chain. Chains write a hash with or without 0x.
func byHash(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	bare := strings.TrimPrefix(text, "0x")
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'deposit', t.company_id, CAST(t.id AS TEXT), t.asset, 0, t.created_at FROM ledger_head AS h
		CROSS JOIN crypto_transaction AS t WHERE t.company_id = h.company_id AND t.tx_hash IN ($1, $2) LIMIT $3`, bare, "0x"+bare, atMost+1)
}

// byAddress finds whose a deposit address is. Addresses that begin with 0x are stored in lower case.
func byAddress(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	if strings.HasPrefix(text, "0x") {
		text = strings.ToLower(text)
	}
	return db.All(ctx, q, db.Fields[Hit], `SELECT 'deposit address', company_id, address, network_id, 0, 0 FROM crypto_directory
		WHERE address = $1 ORDER BY network_id LIMIT $2`, text, atMost+1)
}

// customersByName finds customers whose first or last name begins with the first word of a text, and whose
// other data contain the other words. Last names are stored as companies write them: Okafor, OKAFOR or okafor.
func customersByName(ctx context.Context, q db.Querier, text string) ([]Hit, error) {
	first, rest, _ := strings.Cut(strings.ToLower(text), " ")
	rest = "%" + likely(rest)
	out, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', company_id, id, first_name || ' ' || last_name, 0, created_at
		FROM (SELECT company_id, id, first_name, last_name, search, created_at FROM customer WHERE search >= $1 AND search < $2 ORDER BY search LIMIT 1000) AS c
		WHERE search LIKE $3 ESCAPE '\' ORDER BY search, company_id, id LIMIT $4`, first, after(first), rest, atMost+1)
	if err != nil {
		return nil, err
	}
	initial, size := utf8.DecodeRuneInString(first)
	for _, written := range []string{string(unicode.ToUpper(initial)) + first[size:], strings.ToUpper(first), first} {
		more, err := db.All(ctx, q, db.Fields[Hit], `SELECT 'customer', company_id, id, first_name || ' ' || last_name, 0, created_at
			FROM (SELECT company_id, id, first_name, last_name, search, created_at FROM customer WHERE last_name >= $1 AND last_name < $2 ORDER BY last_name LIMIT 1000) AS c
			WHERE search LIKE $3 ESCAPE '\' ORDER BY last_name, company_id, id LIMIT $4`, written, after(written), rest, atMost+1)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// after returns the first text after all texts that begin with a text.
func after(text string) string {
	last, size := utf8.DecodeLastRuneInString(text)
	return text[:len(text)-size] + string(last+1)
}
