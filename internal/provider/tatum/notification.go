package tatum

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

// HashHeader is the header that holds the signature: the base64 form of the body's HMAC-SHA512.
const HashHeader = "X-Payload-Hash"

// Sign returns the signature of a notification's body.
func Sign(secret string, body []byte) string {
	return base64.StdEncoding.EncodeToString(sum(secret, body))
}

func sum(secret string, body []byte) []byte {
	mac := hmac.New(sha512.New, []byte(secret))
	mac.Write(body)
	return mac.Sum(nil)
}

// payload is a notification in Tatum's legacy template. The amount stays raw JSON, so that it is
// not rounded.
type payload struct {
	Address         string          `json:"address"`
	Counter         string          `json:"counterAddress"`
	Amount          json.RawMessage `json:"amount"`
	Asset           string          `json:"asset"`
	Contract        string          `json:"contractAddress"`
	Block           *int64          `json:"blockNumber"`
	Hash            string          `json:"txId"`
	Type            string          `json:"type"`
	Chain           string          `json:"chain"`
	Mempool         bool            `json:"mempool"`
	Reorg           bool            `json:"reorg"`
	AlreadyEnriched json.RawMessage `json:"data"`
}

// ParseNotification reads a notification if its signature, made with our secret, matches the raw
// bytes of the body.
func (p *Plug) ParseNotification(header http.Header, body []byte) ([]provider.Movement, error) {
	said, err := base64.StdEncoding.DecodeString(header.Get(HashHeader))
	if err != nil || !hmac.Equal(said, sum(p.cfg.HMACSecret.Reveal(), body)) {
		return nil, provider.ErrForged
	}
	return p.parse(body)
}

// ParseKept reads a notification again that was kept because its meaning was unknown.
func (p *Plug) ParseKept(body []byte) ([]provider.Movement, error) { return p.parse(body) }

var errUnread = fmt.Errorf("tatum: %w", provider.ErrUnread)

// parse reads the payload of one notification. For a payload that we do not use, it returns no
// movement and no error. An unknown chain is an error, since the payload may be a deposit.
//
// An old subscription may report a network that one of our nodes reads now. The node may have begun
// after the movement's block, so the movement is returned. A payload that cannot be read is left to the node.
func (p *Plug) parse(body []byte) ([]provider.Movement, error) {
	body = provider.Storable(body) // also the text inside the list of missed notifications
	var n payload
	if err := json.Unmarshal(body, &n); err != nil || n.AlreadyEnriched != nil {
		return nil, errUnread
	}
	if network, known := p.networks[n.Chain]; known {
		return n.movements(network, body)
	}
	i := slices.IndexFunc(p.cfg.Elsewhere, func(e chain.Network) bool { return e.ID == n.Chain })
	if i < 0 {
		return nil, errUnread
	}
	movements, _ := n.movements(p.cfg.Elsewhere[i], body)
	return movements, nil
}

// movements returns the movement of a notification about a network.
func (n payload) movements(network chain.Network, body []byte) ([]provider.Movement, error) {
	asset, taken, err := n.asset(network)
	if err != nil || !taken {
		return nil, err
	}
	address, valid := network.Canonical(n.Address)
	units, err := n.units(asset)
	if err != nil || !valid || n.Hash == "" {
		return nil, errUnread
	}
	if units.Sign() == 0 {
		return nil, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err != nil {
		return nil, errUnread
	}
	m := provider.Movement{
		NetworkID: network.ID, Address: address, Out: units.Sign() < 0, Counter: n.Counter, Contract: asset.Contract,
		Units: units.Abs(units), Hash: n.Hash, Moved: n.Reorg, Raw: compact.Bytes(),
	}
	if counter, ok := network.Canonical(n.Counter); ok {
		m.Counter = counter
	}
	if n.Block != nil && !n.Mempool {
		m.Block = *n.Block
	}
	return []provider.Movement{m}, nil
}

// unused are the types of notifications about fees, failures, collectibles and assets that no listed
// network has.
var unused = provider.Words("fee failed erc721 erc1155 trc10 sol_nft")

// asset returns the asset of a movement. Taken is false for an asset that we do not support, and
// for the unused types. A token is identified by its contract, since the token's creator may choose
// any symbol. Tatum's notifications about Bitcoin may have no type. Bitcoin has no tokens, so they
// are about the native asset. Any other missing or unknown type is an error.
func (n payload) asset(network chain.Network) (asset chain.Asset, taken bool, err error) {
	untyped := n.Type == "" && network.Kind == chain.Bitcoin && (n.Asset == "" || n.Asset == network.NativeAsset)
	switch {
	case n.Type == "native", n.Type == "internal", untyped: // "internal" means that a contract sent the amount
		asset, taken = network.Asset("")
		return asset, taken, nil
	case unused[n.Type]:
		return asset, false, nil
	case n.Type != "token" && n.Type != "trc20":
		return asset, false, errUnread
	}
	contract := n.Contract
	if contract == "" {
		contract = n.Asset
	}
	if _, ok := network.Canonical(contract); !ok {
		return asset, false, errUnread // a token without a contract address is an error, so that an operator sees it
	}
	asset, taken = network.Asset(contract)
	return asset, taken, nil
}

// units converts the decimal text of the amount to the asset's smallest units, without rounding.
func (n payload) units(asset chain.Asset) (*big.Int, error) {
	text := string(bytes.TrimSpace(n.Amount))
	if len(text) > 1 && text[0] == '"' {
		if err := json.Unmarshal(n.Amount, &text); err != nil {
			return nil, err
		}
	}
	return chain.ParseUnits(text, asset.Decimals)
}

// sent is one line of Tatum's list of notifications.
type sent struct {
	URL       string          `json:"url"`
	Data      json.RawMessage `json:"data"`
	Timestamp int64           `json:"timestamp"` // milliseconds
	Failed    bool            `json:"failed"`
}

const (
	// retried is the longest time for which Tatum repeats a notification. A notification may be that
	// old when it first appears on the list of failed notifications.
	retried = 7 * 24 * time.Hour
	// overlap is how far before the cursor Since begins to read the notifications that have reached a
	// Kobo. Tatum may have repeated one for some time before it arrived.
	overlap = 24 * time.Hour
)

// pagesAtOnce is the largest number of pages that one call of Since reads.
const pagesAtOnce = 50

// place is how far the lists of notifications were read. Its times are in microseconds. The cursor is
// a place as JSON while a reading is under way. After a reading the cursor is the time at which the
// reading began.
type place struct {
	Read   int64 `json:"read,omitempty"`   // when the last complete reading began; 0 before the first one
	Began  int64 `json:"began"`            // when this reading began
	All    bool  `json:"all,omitempty"`    // the list of all notifications is read, and then that of the failed ones
	Offset int   `json:"offset,omitempty"` // the number of lines of the present list that were read
}

// Since reads the list of notifications that never reached us, newest first. It goes back to seven
// days before the last reading, because a notification may be that old when Tatum gives it up. Tatum
// returns the list in reply to our request, so the notifications need no signature. A call reads a
// part of a long list, and the next call goes on. Lines that are added meanwhile are read twice.
//
// A notification that has reached us is not on that list. If the database is a restored copy, it
// lacks what such notifications said. So Since also reads all notifications since the last reading,
// with an overlap, if the database may be an older one than this program has seen.
func (p *Plug) Since(ctx context.Context, cursor string, _ provider.Ours) (provider.Batch, error) {
	at := p.placeOf(cursor)
	var out provider.Batch
	for range pagesAtOnce {
		ended, err := p.collect(ctx, &at, &out)
		switch {
		case err != nil:
			return provider.Batch{}, err
		case ended && at.All:
			at.All, at.Offset = false, 0
		case ended:
			p.reached.Store(at.Began)
			out.Cursor = strconv.FormatInt(at.Began, 10)
			return out, nil
		}
	}
	text, err := json.Marshal(at)
	out.Cursor, out.More = string(text), true
	p.last.Store(&out.Cursor)
	return out, err
}

// placeOf returns the place of a cursor. A reading that this process has not begun itself begins again,
// because the database may have been restored since.
func (p *Plug) placeOf(cursor string) (at place) {
	now, last := clock.Micros(p.clock.Now()), p.last.Load()
	read, err := strconv.ParseInt(cursor, 10, 64)
	switch {
	case err == nil:
		return place{Read: read, Began: now, All: p.mayBeRestored(read)}
	case json.Unmarshal([]byte(cursor), &at) != nil:
		return place{Began: now}
	case last == nil || *last != cursor:
		return place{Read: at.Read, Began: now, All: at.Read > 0 && p.mayBeRestored(at.Read)}
	}
	return at
}

// mayBeRestored reports whether the database whose last reading began at this time may be a restored
// copy. A program is started on each restored copy, so this is so at its first reading. Later readings
// of any program only move the time forward.
func (p *Plug) mayBeRestored(read int64) bool {
	reached := p.reached.Load()
	return reached == 0 || read < reached
}

// Begin returns 0, because Tatum lists notifications and no blocks.
func (p *Plug) Begin(string) int64 { return 0 }

// collect adds the notifications of the next page, and reports whether the list has no further ones of
// its time.
func (p *Plug) collect(ctx context.Context, at *place, out *provider.Batch) (ended bool, err error) {
	query, back := url.Values{"direction": {"desc"}}, overlap
	if !at.All {
		query.Set("failed", "true")
		back = retried
	}
	lines, err := page[sent](ctx, p, "/v4/subscription/webhook", p.query(p.testnet, query), at.Offset)
	if err != nil {
		return false, err
	}
	at.Offset += len(lines)
	for _, line := range lines {
		if at.Read > 0 && line.Timestamp > 0 && time.UnixMilli(line.Timestamp).Before(clock.Time(at.Read).Add(-back)) {
			return true, nil
		}
		p.missed(line, out)
	}
	return len(lines) < pageSize, nil
}

// missed adds the movements of one line of the list. The line's data is a JSON object, or a string
// that contains the object. Movements count whatever URL the line has, because the URL of earlier
// subscriptions may differ after a change of callback_base, and Kobo ignores addresses that are not
// its own. A line that cannot be read is kept only if it was sent to us, since it may be another system's.
func (p *Plug) missed(s sent, out *provider.Batch) {
	body := []byte(s.Data)
	var text string
	if json.Unmarshal(body, &text) == nil {
		body = []byte(text)
	}
	movements, err := p.parse(body)
	if err != nil && s.URL == p.cfg.CallbackURL {
		out.Unread = append(out.Unread, body)
	}
	for i := range movements {
		if s.Timestamp > 0 {
			movements[i].ListedAt = time.UnixMilli(s.Timestamp).UTC()
		}
	}
	out.Movements = append(out.Movements, movements...)
}
