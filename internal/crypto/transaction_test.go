package crypto_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

func TestADepositIsPendingThenCompleted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		deposit := moved(to, "0x1", 2_500_000, 100)
		deposit.Contract = usdc
		w.chain("0x1", 100, 100)
		w.tell(deposit)
		w.tell(deposit, deposit) // repeated reports do not change anything
		w.want(a, "deposit pending 100", "deposit_pending")
		w.chain("0x1", 100, 110)
		w.later(time.Hour)
		w.want(a, "deposit pending 100", "deposit_pending")
		w.chain("0x1", 100, 111) // block 111 is the twelfth block, counted from block 100
		w.later(time.Hour)
		w.want(a, "deposit completed 100", "deposit_pending deposit_completed")
		w.tell(deposit)
		w.later(time.Hour)
		w.want(a, "deposit completed 100", "deposit_pending deposit_completed")
		w.want(b, "", "")

		list, _, err := w.Transactions(t.Context(), a, crypto.TransactionFilter{}, 0, 10)
		if err != nil || len(list) != 1 {
			t.Fatal(err)
		}
		text, err := json.Marshal(list[0])
		want := `{"id":1,"type":"deposit","direction":"in","status":"completed","txHash":"0x1","amount":2,"from":null,"asset":"USDC",` +
			`"companyId":"` + a + `","networkId":"ethereum-sepolia","tokenAddress":"` + far + `",` +
			`"meta":{"from":"` + far + `","counterAddress":"` + far + `","blockNumber":100,"raw":{"said":"so"}},` +
			`"createdAt":"2030-01-02T03:04:05.000Z","updatedAt":"2030-01-02T05:04:05.000Z","amountDecimal":"2.5","amountUnits":"2500000","decimals":6,` +
			`"contractAddress":"` + usdc + `","address":"` + to.Address + `"}`
		if err != nil || string(text) != want {
			t.Errorf("%s\nwant\n%s", text, want)
		}
		events, _, err := w.feed.Feed(t.Context(), a, 1, 10, 0)
		if err != nil || events[0].Kind != event.CryptoDepositCompleted || string(events[0].Data) != want {
			t.Errorf("the event tells something else: %s %v", events[0].Data, err)
		}
	})
}

// The spelling of a hash makes no second deposit of it, neither for a report of today nor beside a row of before.
func TestAHashIsComparedAsANumber(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		onEth, onTron := w.address(a, eth), w.address(b, tron)
		for _, hash := range []string{"0xAB", "0xab", "AB", "0Xab"} {
			w.tell(moved(onEth, hash, 1, 100))
			w.tell(moved(onTron, hash, 1, 100))
		}
		w.want(a, "deposit pending 100", "deposit_pending")
		w.want(b, "deposit pending 100", "deposit_pending")
		if one, other := w.latest(a).Hash, w.latest(b).Hash; one != "0xab" || other != "ab" {
			t.Errorf("the hashes are %s and %s", one, other)
		}
		if _, err := d.Exec(t.Context(), `UPDATE crypto_transaction SET seen = replace(seen, '0xab', '0xAB'), tx_hash = '0xAB' WHERE company_id = $1`, a); err != nil {
			t.Fatal(err)
		}
		w.tell(moved(onEth, "0xab", 1, 100))
		w.want(a, "deposit pending 100", "deposit_pending")
	})
}

// Each company's transactions are numbered separately, so that a number reveals nothing about other
// companies.
func TestTransactionsCountByCompany(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		ours, theirs := w.address(a, eth), w.address(b, eth)
		for i := range 3 {
			w.tell(moved(ours, fmt.Sprint("0xa", i), 1, 100))
		}
		w.tell(moved(theirs, "0xb0", 1, 100))
		w.tell(moved(theirs, "0xb1", 1, 100))
		for company, want := range map[string][]int64{a: {3, 2, 1}, b: {2, 1}} {
			list, _, err := w.Transactions(t.Context(), company, crypto.TransactionFilter{}, 0, 10)
			var got []int64
			for _, one := range list {
				got = append(got, one.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("the numbers are %v, want %v (%v)", got, want, err)
			}
		}
	})
}

// Concurrent reports of the same movement create only one transaction.
func TestADepositToldByManyIsOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		programs := []*crypto.Service{w.Service, w.program(d)}
		to := w.address(a, eth)
		body, err := json.Marshal([]provider.Movement{moved(to, "0x1", 5, 100)})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if err := programs[i%2].Receive(t.Context(), "node", http.Header{"Signed": {"yes"}}, body); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.want(a, "deposit pending 100", "deposit_pending")
		first, second := moved(to, "0x1", 5, 100), moved(to, "0x1", 5, 100) // a second, equal movement in the same chain transaction
		second.Ordinal = 1
		for range 2 {
			w.tell(first, second)
			w.want(a, "deposit pending 100, deposit pending 100", "deposit_pending deposit_pending")
			first.Counter, second.Counter = usdc, first.Counter // a node names the two senders in another order
		}
	})
}

func TestWhatIsNotOursIsLeft(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		spam, foreign, elsewhere, nothing := moved(to, "0x1", 5, 100), moved(to, "0x2", 5, 100), moved(to, "0x3", 5, 100), moved(to, "0x4", 0, 100)
		spam.Contract = far
		foreign.Address = far
		elsewhere.NetworkID = "polygon-amoy" // the address was not generated on this network
		w.tell(spam, foreign, elsewhere, nothing)
		w.want(a, "", "")
		lower := moved(to, "0x5", 5, 100)
		lower.Address = strings.ToLower(lower.Address)
		w.tell(lower)
		w.want(a, "deposit pending 100", "deposit_pending")
	})
}

func TestReorganisations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		gone, again := moved(to, "0xgone", 1, 100), moved(to, "0xagain", 2, 100)
		w.chain("0xgone", 100, 100)
		w.chain("0xagain", 100, 100)
		moved2 := moved(to, "0xagain", 2, 102)
		w.node.batches = []provider.Batch{
			{Movements: []provider.Movement{gone, again}},
		}
		w.read()
		w.want(a, "deposit pending 100, deposit pending 100", "deposit_pending deposit_pending")
		// Block 100 was replaced, and only the transaction 0xagain was included again, in block
		// 102.
		w.chain("0xgone", 0, 102)
		w.chain("0xagain", 102, 102)
		w.node.batches = append(w.node.batches, provider.Batch{Gone: []string{"hash-100"}, Movements: []provider.Movement{moved2}})
		w.read()
		w.want(a, "deposit pending 100, deposit pending 102", "deposit_pending deposit_pending")
		w.chain("0xagain", 102, 120)
		w.later(time.Hour)
		w.want(a, "deposit failed 100, deposit completed 102", "deposit_pending deposit_pending deposit_failed deposit_completed")
		// Much later, the failed transaction is included in a block.
		w.tell(gone) // a repetition of the old report does not change anything
		w.chain("0xgone", 130, 150)
		w.tell(moved(to, "0xgone", 1, 130))
		w.later(time.Minute)
		w.want(a, "deposit failed 100, deposit completed 102, deposit completed 130",
			"deposit_pending deposit_pending deposit_failed deposit_completed deposit_pending deposit_completed")
		// If the block of a completed transaction is removed, Kobo opens a case.
		w.chain("0xagain", 0, 151)
		w.node.batches = append(w.node.batches, provider.Batch{Gone: []string{"hash-102"}})
		w.read()
		for range 4 {
			w.later(5 * time.Minute)
		}
		cases, _, err := w.cases.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
		if err != nil || len(cases) != 1 || cases[0].Reason != operation.Contradiction || cases[0].Company != a {
			t.Errorf("%+v %v", cases, err)
		}
	})
}

// After a reorganisation of the chain, a transaction may have a different effect in a new block. It
// must therefore complete only in a block in which the custodian reported it.
func TestATransactionIsCompletedOnlyWhereItWasTold(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.chain("0x1", 100, 100)
		w.tell(moved(to, "0x1", 7, 100))
		w.chain("0x1", 101, 150) // the transaction has enough confirmations, but in a different block
		w.later(time.Hour)
		w.want(a, "deposit pending 100", "deposit_pending")
		w.node.batches = []provider.Batch{{Gone: []string{"hash-100"}, Movements: []provider.Movement{moved(to, "0x1", 3, 101)}}}
		w.read()
		w.later(time.Hour)
		w.want(a, "deposit failed 100, deposit completed 101", "deposit_pending deposit_pending deposit_completed deposit_failed")
	})
}

// A transaction does not fail if the custodian lags or cannot be reached.
func TestConfirmationsAreAwaited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		m := moved(to, "0x1", 7, 0) // the transaction waits in the mempool and has no block yet
		w.tell(m)
		w.later(time.Minute)
		w.want(a, "deposit pending 0", "deposit_pending")
		m.Block = 100
		w.chain("0x1", 100, 105)
		w.tell(m)
		w.want(a, "deposit pending 100", "deposit_pending")
		w.node.mu.Lock()
		w.node.away = true
		w.node.mu.Unlock()
		w.later(time.Hour)
		w.node.mu.Lock()
		w.node.away = false
		w.node.mu.Unlock()
		w.chain("0x1", 100, 140)
		w.later(time.Hour)
		w.want(a, "deposit completed 100", "deposit_pending deposit_completed")
		// If the custodian still does not find a transaction after ten minutes, the transaction
		// fails.
		w.tell(moved(to, "0x2", 7, 0))
		for range 4 {
			w.later(5 * time.Minute)
		}
		w.want(a, "deposit completed 100, deposit failed 0", "deposit_pending deposit_completed deposit_pending deposit_failed")
	})
}

func TestWithdrawals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		from, to := w.address(a, eth), w.address(b, eth)
		out, in, bad := moved(from, "0x1", 7, 90), moved(to, "0x1", 7, 90), moved(from, "0x2", 9, 90)
		out.Out, out.Counter, in.Counter = true, to.Address, from.Address
		bad.Out, bad.Reverted = true, true
		w.chain("0x1", 90, 120)
		w.node.at["0x2"] = provider.Inclusion{Found: true, Reverted: true, Block: 90, BlockHash: "hash-90"}
		w.tell(out, in)
		w.later(time.Minute)
		w.tell(bad)
		w.later(time.Minute)
		w.want(a, "withdrawal completed 90, withdrawal failed 90", "withdrawal_completed withdrawal_failed")
		w.want(b, "deposit completed 90", "deposit_pending deposit_completed")
		list, _, err := w.Transactions(t.Context(), a, crypto.TransactionFilter{Hash: "0x1"}, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list[0])
		for _, part := range []string{`"direction":"out"`, `"from":"` + from.Address, `"tokenAddress":"` + to.Address} {
			if err != nil || !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %s: %v", text, part, err)
			}
		}
	})
}

// If a program stops during a batch, the next program reads the batch again. Only one program reads
// a custodian at a time.
func TestReadingIsResumed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		for i := range int64(5) {
			w.node.batches = append(w.node.batches, provider.Batch{Movements: []provider.Movement{moved(to, string(rune('a'+i)), 1+i, 100+i)}})
		}
		ctx, kill := context.WithCancel(t.Context())
		w.node.unread = func(cursor string) {
			if cursor == "2" {
				kill()
			}
		}
		if err := w.Read(ctx, "node"); err == nil {
			t.Fatal("it was not cut off")
		}
		w.node.unread = nil
		other := w.program(d)
		if err := other.Read(t.Context(), "node"); err != nil {
			t.Error(err)
		}
		if got := strings.Count(w.states(a), "pending"); got != 5 {
			t.Errorf("%d of 5", got)
		}
		if err := w.Read(t.Context(), "nobody"); err == nil {
			t.Error("an unknown custodian was read")
		}
	})
}

func TestHistoryIsFiltered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		one, two, other := w.address(a, eth), w.address(a, tron), w.address(a, eth)
		w.chain("0x1", 50, 100)
		w.tell(moved(one, "0x1", 1, 50))
		w.later(time.Hour)
		w.tell(moved(two, "0x2", 2, 100), moved(other, "0x2", 3, 100))
		huge := moved(other, "0x3", 0, 100)
		huge.Units, _ = new(big.Int).SetString("115792089237316195423570985008687907853269984665640564039457584007913129639935", 10)
		w.tell(huge)
		for _, c := range []struct {
			filter crypto.TransactionFilter
			want   int
		}{
			{crypto.TransactionFilter{}, 4},
			{crypto.TransactionFilter{Status: "completed"}, 1},
			{crypto.TransactionFilter{Type: "withdrawal"}, 0},
			{crypto.TransactionFilter{NetworkID: tron}, 1},
			{crypto.TransactionFilter{Asset: "TRX"}, 1},
			{crypto.TransactionFilter{Hash: "0X2"}, 2}, // of Tron, it is stored without 0x
			{crypto.TransactionFilter{Hash: "0x2", Address: other.Address}, 1},
			{crypto.TransactionFilter{From: zero.Add(time.Minute)}, 3},
			{crypto.TransactionFilter{To: zero.Add(time.Minute)}, 1},
		} {
			list, total, err := w.Transactions(t.Context(), a, c.filter, 0, 10)
			if err != nil || len(list) != c.want || total != c.want {
				t.Errorf("%+v: %d of %d, %v", c.filter, len(list), total, err)
			}
		}
		page, total, err := w.Transactions(t.Context(), a, crypto.TransactionFilter{}, 0, 1)
		if err != nil || total != 4 || page[0].Hash != "0x3" || page[0].Units.Cmp(huge.Units) != 0 {
			t.Errorf("the newest: %+v %v", page, err)
		}
	})
}

func TestTheCallbackHandler(t *testing.T) {
	d := dbtest.New(t, db.SQLite)
	w := newWorld(t, d)
	to := w.address(a, eth)
	server := httptest.NewServer(w.CallbackHandler("node"))
	defer server.Close()
	body, err := json.Marshal([]provider.Movement{moved(to, "0x1", 5, 100)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, signed, body string
		want               int
	}{
		{"unsigned", "", string(body), 401},
		{"too long", "yes", strings.Repeat(" ", 300<<10), 413},
		{"unreadable", "yes", "[", 503},
		{"signed", "yes", string(body), 200},
		{"again", "yes", string(body), 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Signed", c.signed)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.name, res.StatusCode, c.want)
		}
	}
	w.want(a, "deposit pending 100", "deposit_pending")
	if err := w.Receive(t.Context(), "nobody", http.Header{}, nil); !errors.Is(err, provider.ErrForged) {
		t.Errorf("%v", err)
	}
}

func (w *world) read() {
	w.t.Helper()
	if err := w.Read(w.t.Context(), "node"); err != nil {
		w.t.Fatal(err)
	}
	w.settled()
}
