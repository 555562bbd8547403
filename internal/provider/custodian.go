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

// Custodian knows the addresses of a company's keys on blockchains, and reports
// the movements on them. A custodian may be a vendor that sends notifications, or a
// node that is read block by block. A custodian signs nothing and has no private
// keys.
//
// Nothing here moves money, so a failure is an *Error and the call may be repeated.
type Custodian interface {
	// Name is the custodian's name for people: "Tatum".
	Name() string
	// Address is the address at an index of a key. A custodian with keys of its own
	// ignores the key.
	Address(ctx context.Context, n chain.Network, key chain.Key, index int64) (string, error)
	// Watch begins the reports about an address, and returns the custodian's
	// reference, which may be empty. A second Watch of the same address returns the
	// same reference.
	Watch(ctx context.Context, n chain.Network, address string) (reference string, err error)
	// Unwatch ends the reports.
	Unwatch(ctx context.Context, reference string) error
	// ParseNotification reads a notification. It first checks that the custodian sent
	// the notification, and returns ErrForged if not.
	ParseNotification(header http.Header, body []byte) ([]Movement, error)
	// Since lists the movements after a cursor, which is empty at first. A node's
	// movements are in its new blocks. A vendor's are in notifications that did not
	// reach us. A movement may come twice.
	Since(ctx context.Context, cursor string, ours Ours) (Batch, error)
	// Pace is the pause between two calls of Since.
	Pace() time.Duration
	// Inclusion asks for the present state of a transaction.
	Inclusion(ctx context.Context, n chain.Network, hash string) (Inclusion, error)
}

// ErrForged is a notification that the custodian did not sign.
var ErrForged = errors.New("the notification is not signed by the custodian")

// Ours tells which of some addresses of a network are watched. All addresses are
// folded (chain.Network.Fold).
type Ours func(ctx context.Context, networkID string, addresses []string) (map[string]bool, error)

// Movement is an amount of an asset that came to a watched address, or left one.
type Movement struct {
	NetworkID string
	Address   string // the watched one
	Out       bool   // the amount left the address
	Counter   string // the other address; "" if unknown
	Contract  string // the token's contract; "" for the native asset
	Units     *big.Int
	Hash      string // the transaction's hash
	// Ordinal tells movements apart that are equal in all fields above. A transaction
	// may pay the same address the same amount twice.
	Ordinal   int64
	Block     int64  // 0 before the transaction is in a block
	BlockHash string // "" if unknown
	// Reverted is true if the transaction is in a block and had no effect.
	Reverted bool
	// Moved is true if a reorganisation of the chain caused this report.
	Moved bool
	Raw   json.RawMessage // the custodian's own report, one JSON object
}

// Batch is a part of the movements.
type Batch struct {
	Movements []Movement
	// Gone are the hashes of blocks that are no longer in the chain. The movements in
	// them did not happen, unless Movements has them again.
	Gone   []string
	Cursor string // for the next call, once this batch is committed
	More   bool   // another batch is ready
	// Unread counts the reports that could not be read.
	Unread int
}

// Inclusion is the state of a transaction.
type Inclusion struct {
	Found     bool // the transaction is in a block
	Waiting   bool // the transaction waits for a block
	Reverted  bool // the transaction is in a block, and had no effect
	Block     int64
	BlockHash string // "" if unknown
	Head      int64  // the chain's last block
}

// Depth returns the number of blocks that confirm the transaction, with its own.
func (i Inclusion) Depth() int64 {
	if !i.Found || i.Head < i.Block {
		return 0
	}
	return i.Head - i.Block + 1
}
