// Package crypto gives companies deposit addresses on blockchains, and records the
// transactions to and from them.
//
// The addresses are derived from a public key of the company. The holder of the
// private key can spend the deposits, and Kobo does not hold it. No naira moves here: a
// deposit is a row of history and an event. A new transaction is pending. It completes
// when enough blocks confirm it. It fails when a reorganisation of the chain has
// removed it. A custodian reports transactions. The service asks the custodian for the
// outcome and does not believe a notification.
package crypto

import (
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
	"github.com/kobo-waas/kobo/internal/wire"
)

// Type is the direction of a transaction.
type Type string

// The types, spelled as the contract spells them.
const (
	Deposit    Type = "deposit"
	Withdrawal Type = "withdrawal"
)

// Status is the state of a transaction.
type Status string

// The states of a transaction. It leaves Pending once.
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
	Chain     string    // of the network
	Name      string    // of the network
	Address   string    `db:"address"`
	Label     string    `db:"label"`
	state     string    `db:"state,state"`
	custody   string    `db:"custody"`
	reference string    `db:"reference,changes"` // the custodian's
	CreatedAt time.Time `db:"created_at"`
	updatedAt time.Time `db:"updated_at,changes"`
}

// MarshalJSON returns the address as the API shows it.
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
	Contract  string          `db:"contract"` // of the token; "" for the native asset
	Decimals  int             `db:"decimals"`
	Units     *big.Int        // the amount
	units     string          `db:"units"`                // Units as text
	Address   string          `db:"address"`              // the company's
	Counter   string          `db:"counter"`              // the other side; "" if unknown
	Hash      string          `db:"tx_hash"`              // of the chain's transaction
	Block     int64           `db:"block_number,changes"` // 0 without a block
	blockHash string          `db:"block_hash,changes"`
	custody   string          `db:"custody"`
	misses    int64           `db:"misses,changes"`  // the answers "missing"
	lostAt    time.Time       `db:"lost_at,changes"` // when its block was found to be removed
	Raw       json.RawMessage `db:"raw,changes"`
	CreatedAt time.Time       `db:"created_at"`
	UpdatedAt time.Time       `db:"updated_at,changes"`
}

// MarshalJSON returns the transaction as the API and the events show it. From is the API
// contract's: null for a deposit, the company's address for a withdrawal. TokenAddress is
// the destination of a withdrawal, the other side of a token's deposit, otherwise the
// company's address. Meta.From is the sender's address.
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
		Amount       *big.Int      `json:"amount"` // in whole units, without its fraction
		From         wire.Text     `json:"from"`
		Asset        string        `json:"asset"`
		Company      string        `json:"companyId"`
		NetworkID    string        `json:"networkId"`
		TokenAddress string        `json:"tokenAddress"`
		Meta         meta          `json:"meta"`
		CreatedAt    clock.Instant `json:"createdAt"`
		UpdatedAt    clock.Instant `json:"updatedAt"`
		Decimal      string        `json:"amountDecimal"` // in whole units, with its fraction: "0.25"
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

// Custody is a custodian and its networks.
type Custody struct {
	Name     string // in our rows and in the path of its callback
	Plug     provider.Custodian
	Networks []string // their ids
}

// Config is what the business needs.
type Config struct {
	DB         *db.DB
	Book       *ledger.Book
	Clock      clock.Clock
	Log        *slog.Logger
	Operations *operation.Service // opens the cases
	Networks   []chain.Network
	Custodies  []Custody
	// HouseKeys are account keys of the fintech itself. A company without a key gets a
	// chain below them.
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
	reader    string             // this program's name as a reader of custodians
	turns     sync.Map           // the locks for the companies' next index, by company
}

// New returns the business on a database.
func New(cfg Config) *Service {
	s := &Service{
		Config: cfg, networks: map[string]chain.Network{}, custodies: map[string]Custody{}, custodyOf: map[string]string{},
		reader: id.New(),
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

// ListNetworks returns all networks, in the order of the configuration. A network without a
// custodian is inactive.
func (s *Service) ListNetworks() []chain.Network {
	out := make([]chain.Network, len(s.Networks))
	for i, n := range s.Networks {
		n.Inactive = n.Inactive || s.custodyOf[n.ID] == ""
		out[i] = n
	}
	return out
}

// TransactionFilter narrows a list of transactions. A zero field filters nothing.
type TransactionFilter struct {
	Type, Status, NetworkID, Asset string
	Hash, Address                  string
	From, To                       time.Time // created at From or later, and before To
}
