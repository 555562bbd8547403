package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/nuban"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Credentials are the API key and the other keys of a development company (completion.md §6). They
// are stored in a file, because the database has only their hashes.
type Credentials struct {
	BaseURL                 string  `json:"base_url"`
	Reference               string  `json:"reference"`
	APIKey                  string  `json:"api_key"`
	PIN                     string  `json:"pin"`
	SettlementID            int64   `json:"settlement_id"`
	SettlementAccountNumber string  `json:"settlement_account_number"`
	AdminKey                string  `json:"admin_key"`
	SecondAdminKey          string  `json:"second_admin_key"` // of another operator, for what takes two
	ConsoleURL              *string `json:"console_url"`
	// AppURL, SecondAppURL and ThirdAppURL sign in the company's people once: an owner, and for what takes two a developer
	// (API keys) and somebody of the role finance (payouts).
	AppURL       *string `json:"app_url"`
	SecondAppURL *string `json:"second_app_url"`
	ThirdAppURL  *string `json:"third_app_url"`
	SandboxToken string  `json:"sandbox_token,omitempty"`
}

// DevConfig returns the configuration of `kobo dev`, which stores its data in a folder. If
// database is empty, it uses SQLite in that folder. It also reads KOBO_PUBLIC_URL.
func DevConfig(data, database string) Config {
	cfg := Defaults()
	cfg.Mode, cfg.Data, cfg.Database = Sandbox, data, database
	if database == "" {
		cfg.Database = "sqlite:" + filepath.Join(data, "kobo.db")
	}
	cfg.MasterKeyFile = filepath.Join(data, "master.key")
	cfg.EvidenceKeyFile = filepath.Join(data, "evidence.key")
	cfg.Window = 2 * time.Second // so a lost response of the sandbox costs at most two seconds
	cfg.Serve.Drain = 0          // there is no load balancer
	cfg.PublicURL = os.Getenv("KOBO_PUBLIC_URL")
	cfg.Limits.Off = true
	cfg.Operators.KeyDays = 0 // the keys are in the folder, and its clock can be moved
	cfg.Log = LogConfig{Level: "info", Format: "text"}
	return cfg
}

// OpenDev opens a development program. It creates everything that is missing, from the folder to
// the company with its balance of one million naira. If fresh is set, it removes all earlier data
// first.
func OpenDev(ctx context.Context, cfg Config, fresh bool, log *slog.Logger) (*App, Credentials, error) {
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return nil, Credentials{}, err
	}
	if fresh {
		if err := removeData(ctx, cfg); err != nil {
			return nil, Credentials{}, err
		}
	}
	for _, file := range []string{cfg.MasterKeyFile, cfg.EvidenceKeyFile} {
		if _, err := secret.LoadOrCreate(file); err != nil {
			return nil, Credentials{}, err
		}
	}
	if err := cfg.Migrate(ctx, false); err != nil {
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
	if err == nil && c.SecondAdminKey == "" {
		c, err = a.secondOperator(ctx, c)
	}
	if err == nil {
		err = a.adopt(ctx, c.SettlementAccountNumber)
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

// Migrate migrates the database to this program's schema. If force is set, it does so even if a
// program that cannot use the new schema is connected. It refuses a database of a different
// environment.
func (c Config) Migrate(ctx context.Context, force bool) error {
	d, err := c.openPrimary(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := c.CheckEnvironment(ctx, d); err != nil {
		return err
	}
	if force {
		return d.ForceMigrate(ctx)
	}
	return d.Migrate(ctx)
}

// FinishMigration ends the service of programs before schema 202, and removes what only they use
// (db.DB.Finish).
func (c Config) FinishMigration(ctx context.Context) error {
	d, err := c.openPrimary(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Finish(ctx)
}

// removeData removes the files of a development program, and leaves other files in its folder.
// It empties a PostgreSQL database. It refuses a database of a different environment.
func removeData(ctx context.Context, cfg Config) error {
	if err := cfg.checkRemovable(ctx); err != nil {
		return err
	}
	patterns := []string{"dev-*.json", "master.key", "evidence.key", devFile}
	for _, books := range []string{"kobo.db", "sandbox.db", "sandbox-*.db"} {
		patterns = append(patterns, books, books+"-wal", books+"-shm", books+"-lock", books+".epoch")
	}
	files, err := os.ReadDir(cfg.Data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range files {
		ours := slices.ContainsFunc(patterns, func(pattern string) bool {
			matches, err := filepath.Match(pattern, file.Name())
			return err == nil && matches
		})
		if ours {
			if err := os.Remove(filepath.Join(cfg.Data, file.Name())); err != nil {
				return err
			}
		}
	}
	d, err := cfg.openPrimary(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Empty(ctx)
}

// checkRemovable refuses a database of a different environment. It allows a database that cannot be
// read, because --fresh is the way to begin anew then.
func (c Config) checkRemovable(ctx context.Context) error {
	d, err := c.openPrimary(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	var other *deployment.OtherError
	if err := c.CheckEnvironment(ctx, d); errors.As(err, &other) {
		return err
	}
	return nil
}

// devFile contains the credentials of the most recent start, since the database stores only their
// hashes. In addition, each database that was used with the folder has a separate credentials file.
// So a start with a different database does not overwrite the credentials.
const devFile = "dev.json"

func credentialsFile(cfg Config) string {
	sum := sha256.Sum256([]byte(cfg.Database))
	return filepath.Join(cfg.Data, "dev-"+hex.EncodeToString(sum[:4])+".json")
}

// developer returns the credentials of the company that an earlier start created. If there is none,
// it creates a company.
func (a *App) developer(ctx context.Context) (Credentials, error) {
	for _, path := range []string{credentialsFile(a.cfg), filepath.Join(a.cfg.Data, devFile)} {
		c, err := readCredentials(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, err
		}
		_, err = a.Companies.Find(ctx, c.Reference)
		if !fault.Is(err, fault.Missing) { // if the company is missing, the file belongs to a different database
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

// Remember stores the credentials and the address of the running program. `kobo listen`, `kobo
// trigger` and the next start read them.
func (a *App) Remember(c Credentials) error {
	if err := c.Write(credentialsFile(a.cfg)); err != nil {
		return err
	}
	return c.Write(filepath.Join(a.cfg.Data, devFile))
}

// These are the PIN, the opening balance and the name of the development company, and the name of its
// operator.
const (
	devPIN   = "1234"
	devFloat = 1_000_000 * money.Naira
	devName  = "Demo Company"

	devOperator = "dev"
)

func errElsewhere(data string) error {
	return fmt.Errorf("the database has a development company whose keys are not in %s: choose the folder that it was begun with (--data), or forget it (--fresh)", data)
}

func (a *App) newDeveloper(ctx context.Context) (Credentials, error) {
	by := operator.Local("dev")
	// The key is issued before anything else. If the database already has keys from a different
	// folder, this fails before anything has changed.
	_, adminKey, err := a.Operators.IssueKey(ctx, by, devOperator)
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
		if _, err := a.Companies.SetKYB(ctx, by, owner.Reference, state, "development company"); err != nil {
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

// secondOperator adds another operator, so that one person can try what takes two.
func (a *App) secondOperator(ctx context.Context, c Credentials) (Credentials, error) {
	_, key, err := a.Operators.IssueKey(ctx, operator.Local("dev"), "dev2")
	if err != nil {
		return c, err
	}
	c.SecondAdminKey = key.Reveal()
	return c, a.Remember(c)
}

// devBank returns the name of the bank of the development company. That bank uses the books that
// the sandbox's providers share.
func (a *App) devBank() string {
	return cmp.Or(a.cfg.defaultBank(), slices.Min(slices.Collect(maps.Keys(a.plugs.banks))))
}

// adopt registers the development company's bank account at the simulated bank.
func (a *App) adopt(ctx context.Context, number string) error {
	bank, ok := a.sandbox.provider(a.devBank()).(interface {
		Adopt(ctx context.Context, number, name, callback string) error
	})
	if !ok {
		return nil
	}
	return bank.Adopt(ctx, number, devName, "")
}

// AgreeWithBank makes the opening balance at the simulated bank that of the ledger: what the development company holds. So
// the bank agrees with the ledger from the beginning. A bank at which money has moved keeps its balance.
//
// Without it the bank begins with ten billion naira of nobody. Tests need that, because they fund companies without a
// credit.
func (a *App) AgreeWithBank(ctx context.Context) error {
	bank, ok := a.sandbox.provider(a.devBank()).(interface {
		BeginWith(ctx context.Context, balance money.Kobo) error
	})
	if !ok {
		return nil
	}
	return bank.BeginWith(ctx, devFloat)
}

// devAccount creates a settlement account with a bank account and money.
func (a *App) devAccount(ctx context.Context, by operator.Operator, reference string) (settlement.Account, error) {
	account, err := a.Settlements.Create(ctx, by, reference, "Main account")
	if err != nil {
		return account, err
	}
	own := a.plugs.banks[a.devBank()].Own()
	number, err := nuban.Make(own.Code, 800_000_000+account.ID)
	if err != nil {
		return account, err
	}
	err = a.Settlements.Feed(ctx, by, reference, account.ID, settlement.BankAccount{
		Number: number, Name: devName, BankName: own.Name, BankCode: own.Code,
	})
	if err != nil {
		return account, err
	}
	if err := a.Settlements.Fund(ctx, by, reference, account.ID, devFloat, a.devBank(), "opening balance"); err != nil {
		return account, err
	}
	return a.Settlements.Find(ctx, reference, account.ID)
}

// Write writes the credentials to a file that only its owner may read. It never leaves an
// incomplete file.
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
