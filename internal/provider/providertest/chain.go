package providertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The local chain needs an Ethereum client for developers and a token contract. Both are
// third-party packages at fixed versions.
const (
	anvilPackage = "@foundry-rs/anvil@1.7.1"
	tokenPackage = "@openzeppelin/contracts@4.9.6"
	tokenFile    = "@openzeppelin/contracts/build/contracts/ERC20PresetFixedSupply.json"
)

// ChainID is the id of the local chain.
const ChainID = 31337

// Chain is an Ethereum-like chain on this machine. The test decides when a block is made.
type Chain struct {
	URL string
	t   testing.TB
	// Owner is an address with unlimited ether and the whole supply of every token.
	Owner string
}

// NewChain runs a chain until the test ends. If npm is missing, NewChain skips the test with a
// message, but fails it in CI.
func NewChain(t testing.TB) *Chain {
	t.Helper()
	modules, err := chainModules()
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") != "true" {
			t.Skip("NOT RUN on a local chain: there is no npm here to get one with")
		}
		t.Fatalf("providertest: no local chain: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	program := exec.CommandContext(ctx, "node", filepath.Join(modules, "@foundry-rs/anvil/bin.mjs"), "--port", "0", "--no-mining", "--order", "fifo")
	// The launcher starts a child process, and both processes must end.
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	program.Cancel = func() error { return syscall.Kill(-program.Process.Pid, syscall.SIGKILL) }
	out, err := program.StdoutPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		stop()
		t.Fatalf("providertest: %v", err)
	}
	t.Cleanup(func() {
		stop()
		_ = program.Wait() // the process was killed, so Wait returns an error
	})
	c := &Chain{t: t, URL: listening(t, out)}
	var accounts []string
	c.ask("eth_accounts", &accounts)
	c.Owner = accounts[0]
	return c
}

func listening(t testing.TB, out io.Reader) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), "Listening on "); ok {
				found <- "http://" + strings.TrimSpace(address)
			}
		}
		close(found)
	}()
	select {
	case url := <-found:
		if url == "" {
			t.Fatal("providertest: the local chain did not start")
		}
		return url
	case <-time.After(time.Minute):
		t.Fatal("providertest: the local chain does not say where it is")
	}
	return ""
}

// chainModules installs the npm packages and returns their folder. One process installs them, and
// all other processes wait.
var chainModules = sync.OnceValues(func() (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", exec.ErrNotFound
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "kobo-test", strings.NewReplacer("/", "_", "@", "_").Replace(anvilPackage+tokenPackage))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // closing releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	modules, done := filepath.Join(dir, "node_modules"), filepath.Join(dir, "done")
	if _, err := os.Stat(done); err == nil {
		return modules, nil
	}
	install := exec.Command(npm, "install", "--prefix", dir, "--no-save", "--no-audit", "--no-fund", anvilPackage, tokenPackage)
	if said, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install: %w: %s", err, said)
	}
	return modules, os.WriteFile(done, nil, 0o644)
})

// ask sends one JSON-RPC request to the chain.
func (c *Chain) ask(method string, into any, params ...any) {
	c.t.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := http.Post(c.URL, "application/json", bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var reply struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&reply); err != nil || reply.Error != nil {
		c.t.Fatalf("providertest: %s: %v %+v", method, err, reply.Error)
	}
	if into != nil {
		if err := json.Unmarshal(reply.Result, into); err != nil {
			c.t.Fatalf("providertest: %s: %v: %s", method, err, reply.Result)
		}
	}
}

// Mine adds a number of blocks to the chain.
func (c *Chain) Mine(blocks int) {
	c.t.Helper()
	c.ask("anvil_mine", nil, fmt.Sprintf("0x%x", blocks))
}

// Reorganise replaces the last blocks by as many empty blocks. The transactions of the replaced
// blocks are dropped.
func (c *Chain) Reorganise(blocks int) {
	c.t.Helper()
	c.ask("anvil_reorg", nil, blocks, []any{})
	c.ask("anvil_dropAllTransactions", nil)
}

// Head returns the number of the last block.
func (c *Chain) Head() int64 {
	c.t.Helper()
	var text string
	c.ask("eth_blockNumber", &text)
	n, _ := new(big.Int).SetString(strings.TrimPrefix(text, "0x"), 16)
	return n.Int64()
}

// Send sends an amount of wei. The transaction waits for the next block.
func (c *Chain) Send(from, to string, wei *big.Int) (hash string) {
	c.t.Helper()
	c.ask("eth_sendTransaction", &hash, map[string]string{"from": from, "to": to, "value": "0x" + wei.Text(16)})
	return hash
}

// Own allows the test to send from an address without its private key.
func (c *Chain) Own(address string) {
	c.t.Helper()
	c.ask("anvil_impersonateAccount", nil, address)
}

// SetBalance changes what an address holds without any transaction, as the transfer of a contract
// does.
func (c *Chain) SetBalance(address string, wei *big.Int) {
	c.t.Helper()
	c.ask("anvil_setBalance", nil, address, "0x"+wei.Text(16))
}

// Deploy deploys a token and returns the address of its contract. The chain's Owner holds the whole
// supply. Deploy makes a block.
func (c *Chain) Deploy(name string, supply *big.Int) (contract string) {
	c.t.Helper()
	modules, err := chainModules()
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(modules, tokenFile))
	if err != nil {
		c.t.Fatal(err)
	}
	var compiled struct{ Bytecode string }
	if err := json.Unmarshal(text, &compiled); err != nil {
		c.t.Fatal(err)
	}
	// constructor(string name, string symbol, uint256 supply, address owner)
	code := compiled.Bytecode + word(big.NewInt(0x80)) + word(big.NewInt(0xc0)) + word(supply) + wordOf(c.Owner) + textWords(name) + textWords(name)
	var hash string
	c.ask("eth_sendTransaction", &hash, map[string]string{"from": c.Owner, "data": code, "gas": "0x500000"})
	c.Mine(1)
	var receipt struct{ ContractAddress string }
	c.ask("eth_getTransactionReceipt", &receipt, hash)
	if receipt.ContractAddress == "" {
		c.t.Fatal("providertest: the token was not deployed")
	}
	return receipt.ContractAddress
}

// SendToken sends an amount of a token. The transaction waits for the next block.
func (c *Chain) SendToken(contract, from, to string, units *big.Int) (hash string) {
	c.t.Helper()
	const transfer = "0xa9059cbb" // transfer(address,uint256)
	c.ask("eth_sendTransaction", &hash, map[string]string{
		"from": from, "to": contract, "data": transfer + wordOf(to) + word(units), "gas": "0x30000",
	})
	return hash
}

// word encodes a number as a 32-byte argument of a contract call.
func word(n *big.Int) string { return fmt.Sprintf("%064x", n) }

func wordOf(address string) string {
	return strings.Repeat("0", 24) + strings.TrimPrefix(address, "0x")
}

// textWords encodes a short text as an argument of a contract call: its length, then the text.
func textWords(s string) string {
	return word(big.NewInt(int64(len(s)))) + hex.EncodeToString([]byte(s)) + strings.Repeat("0", 64-2*len(s))
}
