// Package crypto gives companies deposit addresses on blockchains, and records the
// transactions to and from them.
//
// The addresses are derived from a public key of the company. Spending the deposits needs the
// private key, which Kobo does not hold. A deposit does not move naira: Kobo only records it and
// emits an event. A new transaction is pending. It completes when enough blocks confirm it, and
// fails when a reorganisation of the chain has removed it. A custodian reports transactions to
// Kobo. Kobo does not trust these reports, so it asks the custodian for each outcome.
package crypto

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/big"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Type is the direction of a transaction.
type Type string

// The types of transactions, in the spelling of the API contract.
const (
	Deposit    Type = "deposit"
	Withdrawal Type = "withdrawal"
)

// Status is the state of a transaction.
type Status string

// The states of a transaction. A Completed or Failed transaction never changes its state again.
const (
	Pending   Status = "pending"
	Completed Status = "completed"
	Failed    Status = "failed"
)

// Address is a deposit address of a company.
type Address struct {
	Company   string    `db:"company_id,key"`
	KeyID     string    `db:"key_id,key"`
	Index     int64     `db:"address_index,key"`
	NetworkID string    `db:"network_id"`
	Chain     string    // the network's chain
	Name      string    // the network's name
	Address   string    `db:"address"`
	Label     string    `db:"label"`
	state     string    `db:"state,state"`
	custody   string    `db:"custody,changes"`
	reference string    `db:"reference,changes"` // the custodian's reference
	CreatedAt time.Time `db:"created_at"`
	updatedAt time.Time `db:"updated_at,changes"`
}

// MarshalJSON returns the address as JSON in the form that the API shows.
func (a Address) MarshalJSON() ([]byte, error) {
	type network struct {
		Chain string `json:"chain"`
		Name  string `json:"name"`
	}
	return json.Marshal(struct {
		Address string  `json:"address"`
		Index   int64   `json:"index"`
		Network network `json:"network"`
		Label   string  `json:"label,omitempty"`
	}{a.Address, a.Index, network{a.Chain, a.Name}, a.Label})
}

// Transaction is a movement of an asset to or from an address of a company.
type Transaction struct {
	Company   string          `db:"company_id,key"`
	ID        int64           `db:"id,key"`
	seen      string          `db:"seen"`
	attempt   int64           `db:"attempt"`
	Type      Type            `db:"kind"`
	Status    Status          `db:"state,state"`
	NetworkID string          `db:"network_id"`
	Asset     string          `db:"asset"`
	Contract  string          `db:"contract"` // the token's contract; "" for the native asset
	Decimals  int             `db:"decimals"`
	Units     *big.Int        // the amount in the asset's smallest units
	units     string          `db:"units"`                // Units as text
	Address   string          `db:"address"`              // the company's address
	Counter   string          `db:"counter"`              // the counterparty's address; "" if unknown
	Hash      string          `db:"tx_hash"`              // the hash of the transaction on the chain
	Block     int64           `db:"block_number,changes"` // 0 while the transaction waits for a block
	blockHash string          `db:"block_hash,changes"`
	custody   string          `db:"custody"`
	misses    int64           `db:"misses,changes"`  // how often in a row the custodian did not find the transaction
	lostAt    time.Time       `db:"lost_at,changes"` // when Kobo learned that the transaction's block was removed
	Raw       json.RawMessage `db:"raw,changes"`
	CreatedAt time.Time       `db:"created_at"`
	UpdatedAt time.Time       `db:"updated_at,changes"`
}

// MarshalJSON returns the transaction as JSON in the form that the API and the events show. The API
// contract defines these fields: From is null for a deposit, and the company's address for a
// withdrawal. TokenAddress is the destination of a withdrawal, and the sender of a token deposit.
// For a deposit of the native asset, TokenAddress is the company's address. Meta.From is always the
// sender's address.
func (t Transaction) MarshalJSON() ([]byte, error) {
	type meta struct {
		From    string          `json:"from"`
		Counter string          `json:"counterAddress"`
		Block   int64           `json:"blockNumber"`
		Raw     json.RawMessage `json:"raw"`
	}
	direction, from, sender, token := "in", "", t.Counter, t.Counter
	switch {
	case t.Type == Withdrawal:
		direction, from, sender = "out", t.Address, t.Address
	case t.Contract == "":
		token = t.Address
	}
	return json.Marshal(struct {
		ID           int64         `json:"id"`
		Type         Type          `json:"type"`
		Direction    string        `json:"direction"`
		Status       Status        `json:"status"`
		Hash         string        `json:"txHash"`
		Amount       *big.Int      `json:"amount"` // in whole units, without the fraction
		From         wire.Text     `json:"from"`
		Asset        string        `json:"asset"`
		Company      string        `json:"companyId"`
		NetworkID    string        `json:"networkId"`
		TokenAddress string        `json:"tokenAddress"`
		Meta         meta          `json:"meta"`
		CreatedAt    clock.Instant `json:"createdAt"`
		UpdatedAt    clock.Instant `json:"updatedAt"`
		Decimal      string        `json:"amountDecimal"` // in whole units with the fraction, such as "0.25"
		Units        string        `json:"amountUnits"`
		Decimals     int           `json:"decimals"`
		Contract     wire.Text     `json:"contractAddress"`
		Address      string        `json:"address"`
	}{
		t.ID, t.Type, direction, t.Status, t.Hash, chain.Whole(t.Units, t.Decimals), wire.Text(from), t.Asset, t.Company, t.NetworkID,
		token,
		meta{sender, t.Counter, t.Block, t.Raw},
		clock.Instant{Time: t.CreatedAt},
		clock.Instant{Time: t.UpdatedAt},
		chain.FormatUnits(t.Units, t.Decimals), t.Units.String(), t.Decimals, wire.Text(t.Contract), t.Address,
	})
}

// Custody is a custodian and the networks that it watches.
type Custody struct {
	Name     string // the name in the database and in the path of the custodian's callback
	Plug     provider.Custodian
	Networks []string // the IDs of the networks
}

// Config contains what a Service needs.
type Config struct {
	DB         *db.DB
	Book       *ledger.Book
	Clock      clock.Clock
	Log        *slog.Logger
	Operations *operation.Service // opens cases for removed transactions
	// Ask opens a case of the fintech itself. A second call with the same subject and reason opens no
	// second case.
	Ask       func(ctx context.Context, subject string, reason operation.Reason, detail string) error
	Networks  []chain.Network
	Custodies []Custody
	// HouseKeys are the fintech's account keys. A company without a key gets a child of the
	// fintech's key.
	HouseKeys map[chain.Kind]chain.Key
	// TestKeys allows public keys whose private keys are published.
	TestKeys bool
}

// Service creates addresses and records transactions.
type Service struct {
	Config
	networks  map[string]chain.Network
	custodies map[string]Custody // the custodians by name
	custodyOf map[string]string  // the custodian's name by network ID
	reader    string             // identifies this program when it leases a custodian's cursor
	turns     sync.Map           // a lock for each company, held while a derivation index is taken
	reread    sync.Map           // the custodians whose stored notifications this program has read again
	reads     *prometheus.CounterVec
	unread    *prometheus.CounterVec
}

// New returns a Service.
func New(cfg Config) *Service {
	s := &Service{
		Config: cfg, networks: map[string]chain.Network{}, custodies: map[string]Custody{}, custodyOf: map[string]string{},
		reader: id.New(), reads: newReads(), unread: newUnread(),
	}
	for _, n := range cfg.Networks {
		s.networks[n.ID] = n
	}
	for _, c := range cfg.Custodies {
		s.custodies[c.Name] = c
		s.countFromZero(c.Name)
		for _, n := range c.Networks {
			s.custodyOf[n] = c.Name
		}
	}
	return s
}

var errNoNetwork = fault.New(fault.Missing, "Network not found.")

// ListNetworks returns all networks in the order of the configuration. It marks a network without a
// custodian as inactive.
func (s *Service) ListNetworks() []chain.Network {
	out := make([]chain.Network, len(s.Networks))
	for i, n := range s.Networks {
		n.Inactive = n.Inactive || s.custodyOf[n.ID] == ""
		out[i] = n
	}
	return out
}

// TransactionFilter selects transactions. A field with the zero value is ignored.
type TransactionFilter struct {
	Type, Status, NetworkID, Asset string
	Hash, Address                  string
	From, To                       time.Time // limits on the creation time; includes From and excludes To
}
