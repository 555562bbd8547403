// Package crypto gives companies deposit addresses on blockchains and keeps what
// came to them and what left them.
//
// Addresses follow from a public key of the company; what is sent to them can be
// spent by whoever holds the private half, which is not Kobo. No naira moves
// here: a deposit is a line of history and an event. It is pending when it is
// seen, completed when enough blocks confirm it, failed when the chain was
// reorganised and it is in none of its blocks any more. A custodian says what it
// saw; what became of it is asked for, and not taken from a notification.
package crypto

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/big"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Type is which way a transaction went.
type Type string

// The types, spelled as the contract spells them.
const (
	Deposit    Type = "deposit"
	Withdrawal Type = "withdrawal"
)

// Status is where a transaction stands.
type Status string

// The states. Pending is left once.
const (
	Pending   Status = "pending"
	Completed Status = "completed"
	Failed    Status = "failed"
)

// Address is a deposit address of a company.
type Address struct {
	Company   string
	KeyID     string
	Index     int64
	NetworkID string
	Chain     string
	Name      string // of the network
	Address   string
	Label     string
	CreatedAt time.Time
	watched   bool
	custody   string
}

// Transaction is what came to an address of a company, or left it.
type Transaction struct {
	Company   string
	ID        int64
	Type      Type
	Status    Status
	NetworkID string
	Asset     string
	Contract  string // of the token; "" for the native asset
	Decimals  int
	Units     *big.Int
	Address   string // the company's
	Counter   string // the other side; "" when nobody said
	Hash      string
	Block     int64 // 0 while it is in none
	Raw       json.RawMessage
	CreatedAt time.Time
	UpdatedAt time.Time

	seen      string
	attempt   int64
	blockHash string
	custody   string
	misses    int64     // how often it was asked for in vain
	lostAt    time.Time // when the block it was in was found to be gone
}

// Direction is "in" for deposits, "out" for withdrawals.
func (t Transaction) Direction() string {
	if t.Type == Withdrawal {
		return "out"
	}
	return "in"
}

// From is the contract's "from": nobody for a deposit, ourselves for a
// withdrawal.
func (t Transaction) From() string {
	if t.Type == Withdrawal {
		return t.Address
	}
	return ""
}

// TokenAddress is the contract's "tokenAddress": the destination of a
// withdrawal, the other side of a token's deposit, our own address otherwise.
func (t Transaction) TokenAddress() string {
	if t.Type == Deposit && t.Contract == "" {
		return t.Address
	}
	return t.Counter
}

// Sender is whose address the asset came from; "" when nobody said.
func (t Transaction) Sender() string {
	if t.Type == Withdrawal {
		return t.Address
	}
	return t.Counter
}

// Amount is the whole units, without the fraction; AmountDecimal is all of it.
func (t Transaction) Amount() *big.Int { return chain.Whole(t.Units, t.Decimals) }

// AmountDecimal is the amount in whole units with its fraction: "0.25".
func (t Transaction) AmountDecimal() string { return chain.FormatUnits(t.Units, t.Decimals) }

// MarshalJSON is the transaction as GET /crypto/history shows it, which is what
// its events carry. A test holds the two together.
func (t Transaction) MarshalJSON() ([]byte, error) {
	type meta struct {
		From    string          `json:"from"`
		Counter string          `json:"counterAddress"`
		Block   int64           `json:"blockNumber"`
		Raw     json.RawMessage `json:"raw"`
	}
	return json.Marshal(struct {
		ID           int64    `json:"id"`
		Type         Type     `json:"type"`
		Direction    string   `json:"direction"`
		Status       Status   `json:"status"`
		Hash         string   `json:"txHash"`
		Amount       *big.Int `json:"amount"`
		From         *string  `json:"from"`
		Asset        string   `json:"asset"`
		Company      string   `json:"companyId"`
		NetworkID    string   `json:"networkId"`
		TokenAddress string   `json:"tokenAddress"`
		Meta         meta     `json:"meta"`
		CreatedAt    string   `json:"createdAt"`
		UpdatedAt    string   `json:"updatedAt"`
		Decimal      string   `json:"amountDecimal"`
		Units        string   `json:"amountUnits"`
		Decimals     int      `json:"decimals"`
		Contract     *string  `json:"contractAddress"`
		Address      string   `json:"address"`
	}{
		t.ID, t.Type, t.Direction(), t.Status, t.Hash, t.Amount(), present(t.From()), t.Asset, t.Company, t.NetworkID,
		t.TokenAddress(),
		meta{t.Sender(), t.Counter, t.Block, t.Raw},
		clock.Text(t.CreatedAt), clock.Text(t.UpdatedAt),
		t.AmountDecimal(), t.Units.String(), t.Decimals, present(t.Contract), t.Address,
	})
}

func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Custody is a custodian and the networks it looks after.
type Custody struct {
	Name     string // in our books and in the path of its notifications
	Plug     provider.Custodian
	Networks []string // their ids
}

// Config is what the business stands on.
type Config struct {
	DB         *db.DB
	Book       *ledger.Book
	Clock      clock.Clock
	Log        *slog.Logger
	Operations *operation.Service // keeps the cases
	Networks   []chain.Network
	Custodies  []Custody
	// HouseKeys are accounts of the fintech itself, for companies that have brought
	// no key of their own: each such company gets a chain below them.
	HouseKeys map[chain.Kind]chain.Key
	// TestKeys allows keys whose private halves are public.
	TestKeys bool
}

// Service is the business.
type Service struct {
	Config
	networks  map[string]chain.Network
	custodies map[string]Custody // by name
	custodyOf map[string]string  // by network
	reader    string             // this program, among those that read custodians

	mu    sync.Mutex
	turns map[string]*sync.Mutex // by company: who takes the next index
}

// New is the business on a database.
func New(cfg Config) *Service {
	s := &Service{
		Config: cfg, networks: map[string]chain.Network{}, custodies: map[string]Custody{}, custodyOf: map[string]string{},
		reader: id.New(), turns: map[string]*sync.Mutex{},
	}
	for _, n := range cfg.Networks {
		s.networks[n.ID] = n
	}
	for _, c := range cfg.Custodies {
		s.custodies[c.Name] = c
		for _, n := range c.Networks {
			s.custodyOf[n] = c.Name
		}
	}
	return s
}

var errNoNetwork = fault.New(fault.Missing, "Network not found.")

// ListNetworks are all networks, in the order of the configuration. One that
// nobody looks after, or that is switched off, is inactive.
func (s *Service) ListNetworks() []chain.Network {
	out := make([]chain.Network, len(s.Networks))
	for i, n := range s.Networks {
		n.Inactive = n.Inactive || s.custodyOf[n.ID] == ""
		out[i] = n
	}
	return out
}

// turn is the company's, for whoever takes its next index.
func (s *Service) turn(company string) *sync.Mutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns[company] == nil {
		s.turns[company] = &sync.Mutex{}
	}
	return s.turns[company]
}

// TransactionFilter narrows a list of transactions; a zero field does not.
type TransactionFilter struct {
	Type, Status, NetworkID, Asset string
	Hash, Address                  string
	From, To                       time.Time // seen at From or later, and before To
}

// Transactions are limit of the company's transactions after the first offset,
// newest first, and how many there are.
func (s *Service) Transactions(ctx context.Context, company string, f TransactionFilter, offset, limit int) ([]Transaction, int, error) {
	total, err := s.countTransactions(ctx, company, f)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.transactions(ctx, company, f, offset, limit)
	return list, int(total), err
}
