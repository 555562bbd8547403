package customer

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

// These counters number a company's customers and transactions without gaps.
const (
	numbers            ledger.Next = "customer"
	transactionNumbers ledger.Next = "customer.transaction"
)

// The type and the status of every transaction. So far Kobo records only successful credits.
const (
	credit  = "CREDIT"
	success = "SUCCESS"
)

// Transaction is a credit on a customer's account in the form that the API and the events show.
type Transaction struct {
	Company      string        `db:"company_id,key" json:"-"`
	Number       int64         `db:"number,key" json:"-"` // numbers the company's transactions without gaps
	ID           string        `db:"id" json:"id"`
	CustomerID   string        `db:"customer_id" json:"-"`
	SettlementID int64         `db:"settlement_id" json:"-"` // the settlement account that received the money
	Amount       money.Kobo    `db:"amount_kobo" json:"amount"`
	Type         string        `db:"kind" json:"type"`
	Status       string        `db:"status" json:"status"`
	Fee          *wire.Null    `json:"fee,omitempty"` // null, because a credit has no fee
	Narration    string        `db:"narration" json:"narration"`
	SessionID    string        `db:"session_id" json:"sessionId"` // the bank's session ID of the credit
	CreatedAt    clock.Instant `db:"created_at" json:"createdAt"`
	settlement.Sender
	Currency *wire.Naira `json:"currency,omitempty"`
	Customer *Holder     `json:"customer,omitempty"`
}

// Holder is the customer of a transaction. A list of one customer's transactions omits the holder,
// the currency and the fee.
type Holder struct {
	ID        string `json:"id"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
}

// of returns the transaction with its holder, fee and currency filled in.
func (t Transaction) of(h Holder) Transaction {
	t.Fee, t.Currency, t.Customer = &wire.Null{}, &wire.Naira{}, &h
	return t
}

// BookCredit returns the settlement account for a credit on a customer's account. It also returns
// the function that adds the transaction and its event to the credit's unit. The bool is false if
// the account does not belong to a customer.
func (s *Service) BookCredit(ctx context.Context, company string, c settlement.Credit) (settlement.Booking, bool, error) {
	owner, err := s.findByAccount(ctx, company, c.Account)
	if errors.Is(err, db.ErrNone) {
		return settlement.Booking{}, false, nil
	}
	if err != nil {
		return settlement.Booking{}, false, err
	}
	settlementID, err := s.Settlements.Landing(ctx, company, int64(owner.Account.SettlementID))
	if err != nil {
		return settlement.Booking{}, false, err
	}
	t := Transaction{
		Company: company, ID: c.ID, CustomerID: owner.ID, SettlementID: settlementID, Amount: c.Amount, Type: credit, Status: success,
		Narration: c.Narration, SessionID: c.Session, CreatedAt: clock.Instant{Time: s.Clock.Now()}, Sender: c.Sender(),
	}.of(Holder{owner.ID, owner.FirstName, owner.LastName})
	return settlement.Booking{SettlementID: settlementID, Effects: func(u *ledger.Unit) {
		s.Unchanged(u, owner) // an erasure after the read would leave the name in the event
		u.Append(transactions.Record(t).Put("number", transactionNumbers))
		event.Emit(u, event.TransactionCredit, t)
	}}, true, nil
}

// TransactionFilter selects transactions. The zero value selects all transactions.
type TransactionFilter struct {
	CustomerID string
	From, To   time.Time // includes From and excludes To; a zero time is no limit
}

// Transactions returns a page of the company's transactions, newest first, and the total count.
// Without a filter, a page is a range of the transactions' numbers. The last of a million pages is
// therefore as fast as the first page.
func (s *Service) Transactions(ctx context.Context, company string, f TransactionFilter, offset, limit int) ([]Transaction, int, error) {
	if f != (TransactionFilter{}) {
		list, total, err := s.filteredTransactions(ctx, company, f, offset, limit)
		return list, total, s.addSenders(ctx, company, list, err)
	}
	last, err := s.Book.Last(ctx, company, transactionNumbers)
	if err != nil {
		return nil, 0, err
	}
	high := last - int64(offset)
	list, err := s.transactions(ctx, company, high, high-int64(limit))
	return list, int(last), s.addSenders(ctx, company, list, err)
}

// Cursor returns the place of a transaction in the list of the company's transactions.
func (t Transaction) Cursor() string { return db.Place{At: t.Number, ID: t.ID}.Cursor() }

// TransactionsAfter returns at most limit transactions of the company that match a filter, the newest first. They follow the
// transaction with the cursor after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) TransactionsAfter(ctx context.Context, company string, f TransactionFilter, after string, limit int) ([]Transaction, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	list, err := s.transactionsAfter(ctx, company, f, at.At, limit)
	return list, s.addSenders(ctx, company, list, err)
}

// addSenders adds to a list of transactions the payers of their credits. If err is not nil, it only
// returns err.
func (s *Service) addSenders(ctx context.Context, company string, list []Transaction, err error) error {
	if err != nil || len(list) == 0 {
		return err
	}
	ids := make([]string, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	senders, err := s.Settlements.Senders(ctx, company, ids)
	for i := range list {
		list[i].Sender = senders[list[i].ID]
	}
	return err
}

// TransactionsOf returns the newest transactions of the customer with this ID. The list is empty if
// the customer does not exist.
func (s *Service) TransactionsOf(ctx context.Context, company, customerID string) ([]Transaction, error) {
	list, err := s.transactionsOf(ctx, company, customerID)
	return list, s.addSenders(ctx, company, list, err)
}

// mostOfOne is the highest number of transactions that a customer's list shows (wallet-api.md,
// Limits).
const mostOfOne = 50

// Transaction returns a customer's transaction by its ID.
func (s *Service) Transaction(ctx context.Context, company, customerID, transactionID string) (Transaction, error) {
	t, err := s.findTransaction(ctx, company, customerID, transactionID)
	if errors.Is(err, db.ErrNone) {
		err = fault.New(fault.Missing, "Transaction not found")
	}
	list := []Transaction{t}
	err = s.addSenders(ctx, company, list, err)
	return list[0], err
}
