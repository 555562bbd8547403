package apptest_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

type cryptoRow struct {
	ID            int64  `json:"id"`
	Type          string `json:"type"`
	Status        string `json:"status"`
	Hash          string `json:"txHash"`
	Asset         string `json:"asset"`
	AmountDecimal string `json:"amountDecimal"`
	Raw           json.RawMessage
}

// history returns the company's transactions in the form "deposit completed 0.25 ETH", sorted.
func history(p *apptest.Program) []string {
	var page struct{ Data []cryptoRow }
	p.Data("/api/v1/crypto/history?pageSize=100", &page)
	var out []string
	for _, r := range page.Data {
		out = append(out, strings.Join([]string{r.Type, r.Status, r.AmountDecimal, r.Asset}, " "))
	}
	slices.Sort(out)
	return out
}

// agrees compares each transaction in the company's history with the last event about that
// transaction.
func agrees(t *testing.T, p *apptest.Program) {
	t.Helper()
	var feed struct {
		Data []struct {
			Event string
			Data  json.RawMessage
		}
	}
	p.Data("/api/v1/events?limit=1000", &feed)
	last, kind := map[int64]string{}, map[int64]string{}
	for _, e := range feed.Data {
		var r cryptoRow
		if !strings.HasPrefix(e.Event, "crypto.") {
			continue
		}
		if err := json.Unmarshal(e.Data, &r); err != nil {
			t.Fatal(err)
		}
		last[r.ID], kind[r.ID] = string(e.Data), e.Event
	}
	var page struct{ Data []json.RawMessage }
	p.Data("/api/v1/crypto/history?pageSize=100", &page)
	for _, row := range page.Data {
		var r cryptoRow
		if err := json.Unmarshal(row, &r); err != nil {
			t.Fatal(err)
		}
		if r.Type == "withdrawal" && r.Status == "pending" {
			continue // a withdrawal has only a final event
		}
		if r.Status == "pending" && kind[r.ID] == "crypto.deposit_pending" {
			continue // the transaction may have moved to a different block since the event
		}
		if last[r.ID] != string(row) || !strings.HasSuffix(kind[r.ID], "_"+r.Status) {
			t.Errorf("the history says\n%s\nand %s says\n%s", row, kind[r.ID], last[r.ID])
		}
	}
}

func becomes(t *testing.T, p *apptest.Program, want ...string) {
	t.Helper()
	slices.Sort(want)
	apptest.Eventually(t, func() string {
		if got := history(p); !slices.Equal(got, want) {
			return fmt.Sprintf("the history is %q, want %q", got, want)
		}
		return ""
	})
	agrees(t, p)
}

func generate(t *testing.T, p *apptest.Program, network string) string {
	t.Helper()
	var answer struct{ Data struct{ Address string } }
	p.Do("POST", "/api/v1/crypto/generate-address/"+network, nil).Want(t, 200).Into(t, &answer)
	return answer.Data.Address
}

// Tatum sends signed notifications about deposits. Some are sent twice, some are lost while the
// program is down, and blocks of the chain are replaced. Every deposit still reaches the outcome
// that the chain shows.
func TestDepositsByNotification(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		p := home.Start(t)
		deposit := func(address, asset, amount, more string) string {
			t.Helper()
			var answer struct{ Data struct{ TxHash string } }
			body := json.RawMessage(`{"address":"` + address + `","asset":"` + asset + `","amount":"` + amount + `"` + more + `}`)
			p.Do("POST", "/sandbox/crypto-deposit", body).Want(t, 200).Into(t, &answer)
			return answer.Data.TxHash
		}
		ether, tron, bitcoin := generate(t, p, "ethereum-sepolia"), generate(t, p, "tron-testnet"), generate(t, p, "bitcoin-testnet")
		if !strings.HasPrefix(bitcoin, "tb1q") || ether != "0x9858EfFD232B4033E47d90003D41EC34EcaEda94" {
			t.Errorf("%s %s", bitcoin, ether)
		}
		deposit(ether, "ETH", "0.25", `,"duplicate":3`)
		deposit(tron, "USDT", "12.000001", "")
		// This token has the symbol USDT, but its contract is not that of USDT.
		deposit(ether, "0x00000000000000000000000000000000000000Cc", "1000000", "")
		becomes(t, p, "deposit completed 0.25 ETH", "deposit completed 12.000001 USDT")
		deposit(bitcoin, "BTC", "0.00000001", `,"confirmed":false`)
		lost := deposit(ether, "USDC", "7", `,"confirmed":false`)
		becomes(t, p, "deposit completed 0.25 ETH", "deposit completed 12.000001 USDT", "deposit pending 0.00000001 BTC", "deposit pending 7 USDC")
		p.Do("POST", "/sandbox/crypto-drop", map[string]string{"txHash": lost}).Want(t, 200)
		for range 6 {
			p.Advance(10 * time.Minute)
		}
		becomes(t, p, "deposit completed 0.25 ETH", "deposit completed 12.000001 USDT", "deposit completed 0.00000001 BTC", "deposit failed 7 USDC")
		p.Do("POST", "/sandbox/crypto-withdrawal", map[string]string{"address": ether, "asset": "ETH", "amount": "0.1", "to": "0x00000000000000000000000000000000000000Cc"}).Want(t, 200)
		becomes(t, p, "deposit completed 0.25 ETH", "deposit completed 12.000001 USDT", "deposit completed 0.00000001 BTC", "deposit failed 7 USDC",
			"withdrawal completed 0.1 ETH")

		// The program is down until Tatum stops repeating its notification. After its next start, the
		// program reads Tatum's list of failed notifications.
		p.Stop()
		away(t, home, ether)
		p = home.Start(t)
		becomes(t, p, "deposit completed 0.25 ETH", "deposit completed 12.000001 USDT", "deposit completed 0.00000001 BTC", "deposit failed 7 USDC",
			"withdrawal completed 0.1 ETH", "deposit completed 3 ETH")
	})
}

// A deposit of the time between a backup and its restore was reported once, and the report was accepted. A program on the restored
// database reads it from Tatum's list of all notifications.
func TestADepositThatARestoreHasLostIsRead(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		dbtest.NeedDump(t, home.Database)
		p := home.Start(t)
		address := generate(t, p, "ethereum-sepolia")
		apptest.Eventually(t, func() string {
			// The time of a reading is that of the first attempt until one has succeeded. A backup from the midst of it has the
			// lease of its program, for which the restored program waits a minute.
			read, err := db.One(t.Context(), p.App.DB, db.Value[int64], `SELECT count(*) FROM crypto_cursor WHERE custody = 'tatum' AND cursor <> '' AND lease_until = 0`)
			if err != nil || read == 0 {
				return fmt.Sprintf("Tatum was not read, %v", err)
			}
			return ""
		})
		restored := takeBackup(t, home)
		p.Do("POST", "/sandbox/crypto-deposit", map[string]string{"address": address, "asset": "ETH", "amount": "0.5"}).Want(t, 200)
		becomes(t, p, "deposit completed 0.5 ETH")
		p.Stop()

		q := restored().Start(t)
		opened(t, q)
		becomes(t, q, "deposit completed 0.5 ETH")
	})
}

// away makes a deposit while no program runs. It waits until Tatum has stopped repeating the
// notification about this deposit.
func away(t *testing.T, home apptest.Home, address string) {
	t.Helper()
	s, err := app.OpenSimulated(t.Context(), app.Defaults(), sandbox.Config{Path: filepath.Join(home.Data, "sandbox.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	nobody := httptest.NewServer(http.NotFoundHandler())
	defer nobody.Close()
	if err := s.Providers["tatum"].(*tatum.Custodian).SetCallback(nobody.URL); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/sandbox/crypto-deposit", strings.NewReader(`{"address":"`+address+`","asset":"ETH","amount":3}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if s.Control().ServeHTTP(w, r); w.Code != 200 {
		t.Fatal(w.Body)
	}
	for range 7 {
		if err := s.Advance(t.Context(), 11*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
}

// Without Tatum, the program reads a local blockchain directly. It follows added and removed
// blocks, also after a restart.
func TestDepositsOnARealChain(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		c := providertest.NewChain(t)
		contract := c.Deploy("USDT", new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil))
		home := apptest.NewHome(t, dialect)
		settings := onChain(t, home, c.URL, contract, providertest.ChainID)
		p := home.Start(t, settings)
		address := generate(t, p, "local")
		wei := func(tenths int64) *big.Int {
			return new(big.Int).Mul(big.NewInt(tenths), big.NewInt(100_000_000_000_000_000))
		}

		c.Send(c.Owner, address, wei(15))
		c.SendToken(contract, c.Owner, address, wei(20))
		c.Mine(1)
		becomes(t, p, "deposit pending 1.5 ETH", "deposit pending 2 USDT")
		c.Mine(2)
		becomes(t, p, "deposit completed 1.5 ETH", "deposit completed 2 USDT")

		// The block with the first deposit is removed, and a second deposit arrives while no program
		// runs.
		c.Send(c.Owner, address, wei(30))
		c.Mine(1)
		becomes(t, p, "deposit completed 1.5 ETH", "deposit completed 2 USDT", "deposit pending 3 ETH")
		p.Stop()
		c.Reorganise(1)
		c.Mine(1)
		c.SendToken(contract, c.Owner, address, wei(40))
		c.Mine(30)
		p = home.Start(t, settings)
		becomes(t, p, "deposit completed 1.5 ETH", "deposit completed 2 USDT", "deposit pending 3 ETH", "deposit completed 4 USDT")
		// A look at the deposit may just have come before the blocks were read, and the next one is minutes away.
		apptest.Eventually(t, func() string {
			p.Advance(2 * time.Minute)
			if got := history(p); !slices.Contains(got, "deposit failed 3 ETH") {
				return fmt.Sprintf("the history is %q", got)
			}
			return ""
		})
		becomes(t, p, "deposit completed 1.5 ETH", "deposit completed 2 USDT", "deposit failed 3 ETH", "deposit completed 4 USDT")
		c.Own(address)
		c.Send(address, c.Owner, wei(1))
		c.Mine(3)
		becomes(t, p, "deposit completed 1.5 ETH", "deposit completed 2 USDT", "deposit failed 3 ETH", "deposit completed 4 USDT", "withdrawal completed 0.1 ETH")
		p.Audit(t, apptest.DevFloat)
	})
}

// onChain returns an option that makes a program read the local chain.
func onChain(t *testing.T, home apptest.Home, url, contract string, id int64) apptest.Option {
	t.Helper()
	n := chain.Network{
		ID: "local", Chain: "local", Name: "Local", Kind: chain.EVM, NativeAsset: "ETH", Decimals: 18, Confirmations: 3, BlockSeconds: 1, Testnet: true,
		ChainID: id,
	}
	token, _ := n.Canonical(contract)
	n.Tokens = []chain.Token{{Symbol: "USDT", Contract: token, Decimals: 18}}
	text, err := json.Marshal([]chain.Network{n})
	path := filepath.Join(home.Data, "networks.json")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(c *app.Config) {
		c.Crypto.Networks, c.Crypto.Nodes = path, secret.NewText("local="+url)
	}
}
