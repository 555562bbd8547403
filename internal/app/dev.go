package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/nuban"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Credentials are what a developer needs to try Kobo (completion.md §6). They
// are of a development company: that they lie in a file is the point.
type Credentials struct {
	BaseURL                 string  `json:"base_url"`
	Reference               string  `json:"reference"`
	APIKey                  string  `json:"api_key"`
	PIN                     string  `json:"pin"`
	SettlementID            int64   `json:"settlement_id"`
	SettlementAccountNumber string  `json:"settlement_account_number"`
	AdminKey                string  `json:"admin_key"`
	ConsoleURL              *string `json:"console_url"`
	SandboxToken            string  `json:"sandbox_token,omitempty"`
}

// DevConfig is the configuration of `kobo dev` with its data in a folder.
// Database may be empty: then it is SQLite in that folder. KOBO_PUBLIC_URL counts as
// it does in any other program.
func DevConfig(data, database string) Config {
	cfg := Defaults()
	cfg.Mode, cfg.Data, cfg.Database = Sandbox, data, database
	if database == "" {
		cfg.Database = "sqlite:" + filepath.Join(data, "kobo.db")
	}
	cfg.MasterKeyFile = filepath.Join(data, "master.key")
	cfg.Window = 2 * time.Second // the bad days of the sandbox should not take minutes
	cfg.Serve.Drain = 0          // nobody balances load to a development program
	cfg.PublicURL = os.Getenv("KOBO_PUBLIC_URL")
	cfg.Limits.Off = true
	cfg.Log = LogConfig{Level: "info", Format: "text"}
	return cfg
}

// OpenDev opens a development program: it makes what is missing, from the folder
// to the company with its million naira. Fresh forgets what was there before.
func OpenDev(ctx context.Context, cfg Config, fresh bool, log *slog.Logger) (*App, Credentials, error) {
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return nil, Credentials{}, err
	}
	if fresh {
		if err := forget(ctx, cfg); err != nil {
			return nil, Credentials{}, err
		}
	}
	if _, err := secret.LoadOrCreate(cfg.MasterKeyFile); err != nil {
		return nil, Credentials{}, err
	}
	if err := Migrate(ctx, cfg.Database, false); err != nil {
		return nil, Credentials{}, err
	}
	a, err := Open(ctx, cfg, log)
	if errors.Is(err, operator.ErrStrange) {
		err = errElsewhere(cfg.Data)
	}
	if err != nil {
		return nil, Credentials{}, err
	}
	c, err := a.developer(ctx)
	if err == nil {
		err = a.world.sandbox.SafeHaven.Adopt(ctx, c.SettlementAccountNumber, devName, "")
	}
	if err == nil {
		err = a.Shop.SyncDue(ctx)
	}
	if err == nil {
		err = a.Payouts.SyncDue(ctx)
	}
	if err != nil {
		a.Close()
		return nil, Credentials{}, err
	}
	return a, c, nil
}

// Migrate brings the schema of a database to what this program needs. Force does
// so beside connected programs that the new schema does not serve.
func Migrate(ctx context.Context, database string, force bool) error {
	d, err := db.Open(ctx, database)
	if err != nil {
		return err
	}
	defer d.Close()
	if force {
		return d.ForceMigrate(ctx)
	}
	return d.Migrate(ctx)
}

// forget removes the files that a development program makes, and nothing else
// from its folder; a PostgreSQL database is emptied.
func forget(ctx context.Context, cfg Config) error {
	for _, name := range []string{"kobo.db", "sandbox.db"} {
		for _, suffix := range []string{"", "-wal", "-shm", ".epoch"} {
			if err := removeIfThere(filepath.Join(cfg.Data, name+suffix)); err != nil {
				return err
			}
		}
	}
	remembered, err := filepath.Glob(filepath.Join(cfg.Data, "dev-*.json"))
	if err != nil {
		return err
	}
	for _, path := range append(remembered, filepath.Join(cfg.Data, "master.key"), filepath.Join(cfg.Data, devFile)) {
		if err := removeIfThere(path); err != nil {
			return err
		}
	}
	d, err := db.Open(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Empty(ctx)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// devFile has the credentials of the last start, which the database only knows as
// hashes. Those of each database of the folder are in a file beside it, or who
// tries PostgreSQL for once would lose the company that is in SQLite.
const devFile = "dev.json"

func memory(cfg Config) string {
	sum := sha256.Sum256([]byte(cfg.Database))
	return filepath.Join(cfg.Data, "dev-"+hex.EncodeToString(sum[:4])+".json")
}

// developer finds the company of an earlier start, or makes one.
func (a *App) developer(ctx context.Context) (Credentials, error) {
	for _, path := range []string{memory(a.cfg), filepath.Join(a.cfg.Data, devFile)} {
		c, err := readCredentials(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, err
		}
		_, err = a.Companies.Find(ctx, c.Reference)
		if !fault.Is(err, fault.Missing) { // or else the file is of another database
			return c, err
		}
	}
	return a.newDeveloper(ctx)
}

func readCredentials(path string) (Credentials, error) {
	var c Credentials
	b, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("%s cannot be read (start once with --fresh): %w", path, err)
	}
	return c, nil
}

// Remember keeps the credentials of a program that answers, with where it does:
// for `kobo listen` and `kobo trigger` in the same folder, and for the next start.
func (a *App) Remember(c Credentials) error {
	if err := c.Write(memory(a.cfg)); err != nil {
		return err
	}
	return c.Write(filepath.Join(a.cfg.Data, devFile))
}

// devPIN and devFloat are what the development company begins with.
const (
	devPIN   = "1234"
	devFloat = 1_000_000 * money.Naira
	devBank  = "999240" // Safe Haven's own code in its sandbox
	devName  = "Demo Company"
)

func errElsewhere(data string) error {
	return fmt.Errorf("the database has a development company whose keys are not in %s: choose the folder that it was begun with (--data), or forget it (--fresh)", data)
}

func (a *App) newDeveloper(ctx context.Context) (Credentials, error) {
	by := operator.Local("dev")
	// The key first: a database of which another folder knows the keys stays as it is.
	_, adminKey, err := a.Operators.IssueKey(ctx, by, "dev")
	if fault.Is(err, fault.Refused) {
		return Credentials{}, errElsewhere(a.cfg.Data)
	}
	if err != nil {
		return Credentials{}, err
	}
	owner, key, err := a.Companies.Create(ctx, by, devName)
	if err != nil {
		return Credentials{}, err
	}
	for _, state := range []company.KYB{company.InProgress, company.Submitted, company.Approved} {
		if _, err := a.Companies.MoveKYB(ctx, by, owner.Reference, state, "development company"); err != nil {
			return Credentials{}, err
		}
	}
	if _, err := a.Companies.SetLive(ctx, by, owner.Reference, true); err != nil {
		return Credentials{}, err
	}
	if err := a.Companies.SetPIN(ctx, by, owner.Reference, secret.NewText(devPIN)); err != nil {
		return Credentials{}, err
	}
	account, err := a.devAccount(ctx, by, owner.Reference)
	if err != nil {
		return Credentials{}, err
	}
	c := Credentials{
		Reference: owner.Reference, APIKey: key.Reveal(), PIN: devPIN, SettlementID: account.ID,
		SettlementAccountNumber: string(account.AccountNumber), AdminKey: adminKey.Reveal(),
	}
	return c, a.Remember(c)
}

// devAccount is a settlement account with a bank account and money in it.
func (a *App) devAccount(ctx context.Context, by operator.Operator, reference string) (settlement.Account, error) {
	account, err := a.Settlements.Create(ctx, by, reference, "Main account")
	if err != nil {
		return account, err
	}
	number, err := nuban.Make(devBank, 800_000_000+account.ID)
	if err != nil {
		return account, err
	}
	err = a.Settlements.Feed(ctx, by, reference, account.ID, settlement.BankAccount{
		Number: number, Name: devName, BankName: "Safe Haven MFB", BankCode: devBank,
	})
	if err != nil {
		return account, err
	}
	if err := a.Settlements.Fund(ctx, by, reference, account.ID, devFloat, bankName, "opening balance"); err != nil {
		return account, err
	}
	return a.Settlements.Find(ctx, reference, account.ID)
}

// Write puts the credentials into a file that only its owner may read, whole or
// not at all.
func (c Credentials) Write(path string) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(append(b, '\n'))
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}
