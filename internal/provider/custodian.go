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

// Custodian derives a company's blockchain addresses from its public keys. It also reports the
// movements on those addresses, which are deposits and withdrawals. A custodian may be a vendor
// that sends notifications, or a node that is read block by block. A custodian signs nothing and
// has no private keys.
//
// No method moves money, so a failure is an *Error and the call may be repeated.
type Custodian interface {
	// Name returns the custodian's display name, such as "Tatum".
	Name() string
	// Address derives an address from a company's public key and a derivation index. A custodian
	// that stores the public keys itself ignores the key argument.
	Address(ctx context.Context, n chain.Network, key chain.Key, index int64) (string, error)
	// Watch makes the custodian report the movements on an address from now on. It returns the
	// custodian's reference of this subscription, which may be empty. A second Watch of the same
	// address returns the same reference.
	Watch(ctx context.Context, n chain.Network, address string) (reference string, err error)
	// Unwatch ends the reports that Watch started.
	Unwatch(ctx context.Context, reference string) error
	// ParseNotification reads a notification. It first checks that the custodian sent the
	// notification, and returns ErrForged if not. For a genuine notification of unknown meaning it
	// returns ErrUnread.
	ParseNotification(header http.Header, body []byte) ([]Movement, error)
	// ParseKept reads a genuine notification again, for which ParseNotification or Since reported
	// that it is unread.
	ParseKept(body []byte) ([]Movement, error)
	// Since lists the movements after a cursor, which is empty in the first call. For a node, these
	// are the movements in new blocks. For a vendor, these are the movements whose notifications
	// did not reach us. A movement may be listed twice.
	Since(ctx context.Context, cursor string, ours Ours) (Batch, error)
	// Begin returns the number of the first block whose movements Since has listed, according to the
	// cursor. It is 0 if nothing was listed yet, or if the custodian does not list movements by
	// their blocks.
	Begin(cursor string) (block int64)
	// Pace returns the pause between two calls of Since.
	Pace() time.Duration
	// Holdings returns what addresses held of the native asset in a block that was read before this
	// cursor. A custodian that reports every movement returns no holdings.
	Holdings(ctx context.Context, n chain.Network, cursor string, addresses []string) (block int64, of []Holding, err error)
	// Inclusion asks for the present state of a transaction.
	Inclusion(ctx context.Context, n chain.Network, hash string) (Inclusion, error)
}

// ErrForged is the error for a notification that the provider did not send.
var ErrForged = errors.New("the notification is not signed by the custodian")

// ErrUnread is the error for a notification that the provider did send, but whose meaning is unknown.
var ErrUnread = errors.New("the notification cannot be read")

// Ours reports which of the given addresses of a network are watched. All addresses are in the
// normalised form of chain.Network.Fold.
type Ours func(ctx context.Context, networkID string, addresses []string) (map[string]bool, error)

// Movement is an amount of an asset that arrived at a watched address, or left it.
type Movement struct {
	NetworkID string
	Address   string // the watched address
	Out       bool   // the amount left the address
	Counter   string // the sender of a deposit, or the recipient of a withdrawal; "" if unknown
	Contract  string // the token's contract; "" for the native asset
	Units     *big.Int
	Hash      string // the transaction's hash
	// Ordinal distinguishes movements that are equal in all fields above except Counter. Such movements
	// exist because a transaction may pay the same address the same amount twice, also from two senders.
	// Counter does not distinguish them, because not every custodian knows it.
	Ordinal   int64
	Block     int64  // 0 before the transaction is in a block
	BlockHash string // "" if unknown
	// Reverted is true if the transaction is in a block but failed, so it had no effect.
	Reverted bool
	// Moved is true if a reorganisation of the chain caused this report.
	Moved bool
	Raw   json.RawMessage // the custodian's report as received, one JSON object
	// ListedAt is when the custodian first sent this report, if the report is from a list of earlier
	// ones. It is zero for a report that the custodian makes now.
	ListedAt time.Time
}

// Batch is what one call of Since returns.
type Batch struct {
	Movements []Movement
	// Gone lists the hashes of blocks that are no longer in the chain. The movements in these
	// blocks did not happen, unless Movements lists them again.
	Gone []string
	// GoneFrom is set after a reorganisation that is deeper than what the cursor stores. All blocks
	// from this number on may have been replaced, although Gone does not list them. Otherwise it
	// is 0.
	GoneFrom int64
	Cursor   string // the cursor of the next call, used after this batch is committed
	More     bool   // a further batch can be read immediately
	// Unread lists the reports whose meaning is unknown.
	Unread [][]byte
}

// Inclusion is the state of a transaction.
type Inclusion struct {
	Found     bool // the transaction is in a block
	Waiting   bool // the transaction waits for a block
	Reverted  bool // the transaction is in a block but failed, so it had no effect
	Block     int64
	BlockHash string // "" if unknown
	Head      int64  // the number of the chain's last block; not newer than the answer about the transaction
	// Final is the number of the last block that the network never replaces. It is 0 while there is
	// no such block. It is known only if Tagged is true.
	Final  int64
	Tagged bool
}

// IsFinal reports whether a block of this number counts as final. If the network tags its final
// blocks, the tag decides. Otherwise the block needs this number of confirmations.
func (i Inclusion) IsFinal(block, confirmations int64) bool {
	if i.Tagged {
		return block <= i.Final
	}
	return i.Head-block+1 >= confirmations
}

// Holding is what an address holds of the native asset, and how many transactions it has sent. Only
// a transaction of the address itself can reduce what it holds.
type Holding struct {
	Units *big.Int
	Sent  int64
}

// Depth returns the number of blocks that confirm the transaction, including its own block.
func (i Inclusion) Depth() int64 {
	if !i.Found || i.Head < i.Block {
		return 0
	}
	return i.Head - i.Block + 1
}
