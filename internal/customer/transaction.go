package customer

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The names of a company's two dense sequences: its customers and its transactions.
const (
	numbers            ledger.Next = "customer"
	transactionNumbers ledger.Next = "customer.transaction"
)

// So far every transaction is a credit that succeeded.
const (
	credit  = "CREDIT"
	success = "SUCCESS"
)

// Transaction is a credit on a customer's account.
type Transaction struct {
	Company      string     `db:"company_id,key"`
	Number       int64      `db:"number,key"` // its place among the company's
	ID           string     `db:"id"`
	CustomerID   string     `db:"customer_id"`
	FirstName    string     // the customer's
	LastName     string     // the customer's
	SettlementID int64      `db:"settlement_id"` // where the money went
	Amount       money.Kobo `db:"amount_kobo"`
	Type         string     `db:"kind"`
	Status       string     `db:"status"`
	Narration    string     `db:"narration"`
	SessionID    string     `db:"session_id"` // the bank's
	CreatedAt    time.Time  `db:"created_at"`
}

// MarshalJSON is the transaction as the list of all transactions and the event show
// it. There is no fee, so the fee is null and not zero.
func (t Transaction) MarshalJSON() ([]byte, error) {
	type person struct {
		ID        string `json:"id"`
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
	}
	return json.Marshal(struct {
		ID        string     `json:"id"`
		Amount    money.Kobo `json:"amount"`
		Type      string     `json:"type"`
		Status    string     `json:"status"`
		Fee       *string    `json:"fee"`
		Narration string     `json:"narration"`
		SessionID string     `json:"sessionId"`
		CreatedAt string     `json:"createdAt"`
		Currency  currency   `json:"currency"`
		Customer  person     `json:"customer"`
	}{
		t.ID, t.Amount, t.Type, t.Status, nil, t.Narration, t.SessionID, clock.Text(t.CreatedAt), naira,
		person{t.CustomerID, t.FirstName, t.LastName},
	})
}

// bookCredit names the settlement account of a credit on a customer's account. The
// transaction and its event go into the unit of the credit.
func (s *Service) bookCredit(ctx context.Context, company string, c settlement.Credit) (settlement.Booking, bool, error) {
	owner, err := s.findByAccount(ctx, company, c.Account)
	if errors.Is(err, db.ErrNone) {
		return settlement.Booking{}, false, nil
	}
	if err != nil {
		return settlement.Booking{}, false, err
	}
	settlementID, err := s.settlements.Landing(ctx, company, owner.Account.SettlementID)
	if err != nil {
		return settlement.Booking{}, false, err
	}
	t := Transaction{
		Company: company, ID: c.ID, CustomerID: owner.ID, FirstName: owner.FirstName, LastName: owner.LastName,
		SettlementID: settlementID, Amount: c.Amount, Type: credit, Status: success,
		Narration: c.Narration, SessionID: c.Session, CreatedAt: s.clock.Now(),
	}
	return settlement.Booking{SettlementID: settlementID, Effects: func(u *ledger.Unit) {
		u.Append(transactions.Record(t).Put("number", transactionNumbers))
		event.Emit(u, event.TransactionCredit, t)
	}}, true, nil
}

// TransactionFilter chooses transactions. The zero value chooses all.
type TransactionFilter struct {
	CustomerID string
	From, To   time.Time // from the one on, and before the other; zero for no limit
}

// Transactions is a page of the company's transactions, newest first, with their
// number in all. Without a filter a page is a range of their numbers. So the last of
// a million pages costs no more than the first.
func (s *Service) Transactions(ctx context.Context, company string, f TransactionFilter, offset, limit int) ([]Transaction, int, error) {
	if f != (TransactionFilter{}) {
		total, err := s.countTransactions(ctx, company, f)
		if err != nil {
			return nil, 0, err
		}
		list, err := s.filteredTransactions(ctx, company, f, offset, limit)
		return list, int(total), err
	}
	last, err := s.book.Last(ctx, company, transactionNumbers)
	if err != nil {
		return nil, 0, err
	}
	high := last - int64(offset)
	list, err := s.transactions(ctx, company, high, high-int64(limit))
	return list, int(last), err
}

// mostOfOne limits the transactions of one customer that a list shows
// (wallet-api.md, Limits).
const mostOfOne = 50

// TransactionsOf are the newest transactions of one customer, by id; none for a
// customer that does not exist.
func (s *Service) TransactionsOf(ctx context.Context, company, customerID string) ([]Transaction, error) {
	return s.transactionsOf(ctx, company, customerID, mostOfOne)
}

// Transaction is one transaction of one customer.
func (s *Service) Transaction(ctx context.Context, company, customerID, transactionID string) (Transaction, error) {
	t, err := s.findTransaction(ctx, company, customerID, transactionID)
	if errors.Is(err, db.ErrNone) {
		err = fault.New(fault.Missing, "Transaction not found")
	}
	return t, err
}
