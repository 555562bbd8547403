package provider

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
)

// Custodian knows the addresses of a company's keys on blockchains, and tells
// what moved on them. It may be a vendor who sends notifications, or a plain
// node that is read block by block: both fit here, and either may be silent
// where the other speaks. It signs nothing: no private key is anywhere near.
//
// Nothing here moves money, so a failure is an *Error and may be repeated.
type Custodian interface {
	// Name is the custodian's name for people: "Tatum".
	Name() string
	// Address is the address at an index of a key. One that makes its addresses
	// itself, from keys of its own, ignores the key.
	Address(ctx context.Context, n chain.Network, key chain.Key, index int64) (string, error)
	// Watch has the custodian tell what moves on an address from now on, and
	// returns its reference for that, which may be empty. An address that is
	// watched already is watched on, under the same reference.
	Watch(ctx context.Context, n chain.Network, address string) (reference string, err error)
	// Unwatch ends it.
	Unwatch(ctx context.Context, reference string) error
	// ParseNotification reads what the custodian sent, after it has made sure that
	// the custodian sent it: ErrForged otherwise, before anything is looked into.
	ParseNotification(header http.Header, body []byte) ([]Movement, error)
	// Since is what moved after a cursor, which is the custodian's own and empty
	// at first: what a node's blocks say, or which notifications did not reach us.
	// It may tell what was told before.
	Since(ctx context.Context, cursor string, ours Ours) (Batch, error)
	// Pace is how often Since is worth asking.
	Pace() time.Duration
	// Inclusion is where a transaction stands now.
	Inclusion(ctx context.Context, n chain.Network, hash string) (Inclusion, error)
}

// ErrForged is a notification that the custodian did not sign.
var ErrForged = errors.New("the notification is not signed by the custodian")

// Ours tells which of some addresses of a network are watched. Addresses are
// folded (chain.Network.Fold), those asked about and those told.
type Ours func(ctx context.Context, networkID string, addresses []string) (map[string]bool, error)

// Movement is some of an asset that came to, or left, one watched address.
type Movement struct {
	NetworkID string
	Address   string // the watched one
	Out       bool   // it left
	Counter   string // the other side; "" when not told
	Contract  string // of the token; "" for the native asset
	Units     *big.Int
	Hash      string // of the transaction
	// Ordinal tells movements apart that are alike in all of the above: a
	// transaction may pay the same address the same amount twice.
	Ordinal   int64
	Block     int64  // 0 while it is in none
	BlockHash string // "" when not told
	// Reverted is true when the transaction was in a block and did nothing.
	Reverted bool
	// Moved is true when this is told because the chain was reorganised.
	Moved bool
	Raw   json.RawMessage // what the custodian said, one JSON object
}

// Batch is a part of what moved.
type Batch struct {
	Movements []Movement
	// Gone are blocks, by hash, that are not in the chain any more: what was in
	// them did not happen, unless a Movement says that it happened again.
	Gone   []string
	Cursor string // where to go on, once all of this is written down
	More   bool   // there is more at once
	// Unread counts what could not be understood.
	Unread int
}

// Inclusion is where a transaction stands.
type Inclusion struct {
	Found     bool // it is in a block
	Waiting   bool // it is in none, and may come into one
	Reverted  bool // it is in a block, and did nothing there
	Block     int64
	BlockHash string // "" when not told
	Head      int64  // the chain's last block
}

// Depth is how many blocks confirm the transaction, its own included.
func (i Inclusion) Depth() int64 {
	if !i.Found || i.Head < i.Block {
		return 0
	}
	return i.Head - i.Block + 1
}
