package torture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/cluster"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/operator"
)

// copier backs the database of a run up, and puts a backup back, as docs/operating/incidents.md says:
// SQLite by kobo backup and kobo restore, PostgreSQL by its own tools.
type copier struct {
	cfg    app.Config
	server *server  // nil with SQLite
	base   *servers // nil without servers of the run's own
	folder string
	tools  string // the folder of PostgreSQL's tools
	made   int
}

// newCopier returns nil if the machine has no tools for the database.
func newCopier(folder, database string, s *server, base *servers) *copier {
	c := &copier{cfg: config(folder, database), server: s, base: base, folder: folder}
	if s != nil {
		var err error
		if c.tools, err = cluster.Binaries(); err != nil {
			return nil
		}
		for _, name := range []string{"pg_dump", "psql"} {
			if _, err = os.Stat(filepath.Join(c.tools, name)); err != nil {
				return nil
			}
		}
	}
	return c
}

// epochFile is the file with the epoch, which is not part of a backup.
func epochFile(data, database string) string {
	if path, lite := db.SQLitePath(database); lite {
		return path + ".epoch"
	}
	return filepath.Join(data, "epoch")
}

// epoch returns the epoch in the file.
func (c *copier) epoch() (n int64, err error) {
	b, err := os.ReadFile(epochFile(c.folder, c.cfg.Database))
	if err != nil {
		return 0, err
	}
	_, number, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	return strconv.ParseInt(number, 10, 64)
}

// url returns where the database is now. A standby may not have a database yet that was made anew, and the tools do not go on
// to the next host then.
func (c *copier) url() string {
	if c.base == nil {
		return c.cfg.Database
	}
	return address([]string{c.base.all()[c.base.primary()].Host()}, c.server.name)
}

// with opens the database as a command of Kobo does.
func (c *copier) with(ctx context.Context, do func(d *db.DB, o *operator.Service) error) error {
	keys, err := c.cfg.Evidence()
	if err != nil {
		return err
	}
	d, err := db.Open(ctx, c.url())
	if err != nil {
		return err
	}
	defer d.Close()
	d.SignWith(keys)
	return do(d, operator.New(d, nil, clock.System{}))
}

// by is the operator of the commands.
var by = operator.Local("torture")

// copying returns the parameters of kobo backup and kobo restore.
func (c *copier) copying(file string) (app.Copying, error) {
	keys, err := c.cfg.Evidence()
	return app.Copying{Database: c.cfg.Database, Mode: c.cfg.Mode, File: file, By: by, Signer: keys}, err
}

// backUp writes a backup into a new file, while the programs serve.
func (c *copier) backUp(ctx context.Context) (file string, err error) {
	c.made++
	file = filepath.Join(c.folder, fmt.Sprintf("backup-%d", c.made))
	if c.server != nil {
		return file, c.tool(ctx, "pg_dump", "--no-owner", "--file", file)
	}
	k, err := c.copying(file)
	if err == nil {
		_, err = app.Backup(ctx, k)
	}
	return file, err
}

// restore puts a backup back with the commands that close API access and hold the moves of purchases.
func (c *copier) restore(ctx context.Context, file string) error {
	if c.server != nil {
		if err := c.load(ctx, file); err != nil {
			return err
		}
		return c.with(ctx, func(d *db.DB, o *operator.Service) error {
			return errors.Join(o.CloseAccess(ctx, by, "restored from a dump"), app.HoldMoves(ctx, d, o, by, "restored from a dump"))
		})
	}
	k, err := c.copying(file)
	if err != nil {
		return err
	}
	_, kept, err := app.Restore(ctx, k)
	if err == nil && kept != "" {
		err = os.Remove(kept) // a long run restores often
	}
	return err
}

// putBack puts a backup back without Kobo's commands, as somebody does who forgets them.
func (c *copier) putBack(ctx context.Context, file string) error {
	if c.server != nil {
		return c.load(ctx, file)
	}
	path, _ := db.SQLitePath(c.cfg.Database)
	for _, rest := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + rest); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(file, path)
}

// load makes the run's database anew from a dump.
func (c *copier) load(ctx context.Context, file string) error {
	if err := errors.Join(c.server.drop(ctx), c.server.create(ctx)); err != nil {
		return err
	}
	return c.tool(ctx, "psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--single-transaction", "--file", file)
}

// tool runs one of PostgreSQL's tools on the run's database. A password is not among the arguments, which other users see.
func (c *copier) tool(ctx context.Context, name string, args ...string) error {
	u, err := url.Parse(c.url())
	if err != nil {
		return errURL
	}
	environment := os.Environ()
	if password, has := u.User.Password(); has {
		u.User = url.User(u.User.Username())
		environment = append(environment, "PGPASSWORD="+password)
	}
	t := exec.CommandContext(ctx, filepath.Join(c.tools, name), append(args, "--dbname", u.String())...)
	t.Env = environment
	if out, err := t.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// state returns whether API access is closed, and whether the moves of purchases are held.
func (c *copier) state(ctx context.Context) (closed, held bool, err error) {
	err = c.with(ctx, func(d *db.DB, o *operator.Service) error {
		a, err := o.Access(ctx)
		if closed = a.Closed; err == nil {
			held, err = deployment.MovesHeld(ctx, d)
		}
		return err
	})
	return closed, held, err
}

// allowMoves ends the hold of the moves of purchases, as kobo door moves allow does. The programs have another clock than this one, so it is given
// their time.
func (c *copier) allowMoves(ctx context.Context, now time.Time) error {
	return c.with(ctx, func(d *db.DB, _ *operator.Service) error {
		o := operator.New(d, nil, clock.At(now))
		return d.Tx(ctx, func(q db.Querier) error { return o.HoldMoves(ctx, q, by, false, "") })
	})
}
