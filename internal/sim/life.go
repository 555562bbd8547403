package sim

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// address is where the program listens in the network of a life.
const address = "127.0.0.1:8080"

// life is the time from a start of the program to its end or crash.
type life struct {
	*apptest.Program
	world       *world
	credentials app.Credentials
	network     *network
	stop        context.CancelFunc
	ended       chan struct{}
	err         error

	once    sync.Once
	dead    chan struct{} // closed by crash
	commits atomic.Int64  // the number of commits until a crash; 0 for none
}

// begin starts the program on the database of the world.
func (w *world) begin() {
	w.t.Helper()
	l := &life{world: w, network: newNetwork(), ended: make(chan struct{}), dead: make(chan struct{})}
	w.life = l
	w.current.Store(l)
	storm := w.faults.calm() // a development program does not start without the lists of its providers
	a, credentials, err := app.OpenDev(w.t.Context(), w.config(l.network), false, slog.New(strict{l}))
	if err != nil {
		w.t.Fatal(err)
	}
	w.faults.set("", storm)
	on, err := l.network.Listen("tcp", address)
	if err != nil {
		w.t.Fatal(err)
	}
	credentials.BaseURL = "http://" + address
	l.credentials = credentials
	l.Program = &apptest.Program{App: a, Home: w.home, Client: w.client}
	a.Book.Committed(l.committed)
	ctx, stop := context.WithCancel(context.WithoutCancel(w.t.Context()))
	l.stop = stop
	w.t.Cleanup(l.close)
	ready := make(chan struct{})
	go func() {
		l.err = a.Run(ctx, on, func() { close(ready) })
		close(l.ended)
	}()
	select {
	case <-ready:
	case <-l.ended:
		w.t.Fatal(l.err)
	}
}

// end stops the program as a signal does, and waits until it has ended.
func (l *life) end() {
	l.Sound(l.world.t)
	l.close()
	if l.err != nil {
		l.world.wrong("the program ended with %v", l.err)
	}
}

// close ends the life, whatever its state is.
func (l *life) close() {
	l.stop()
	<-l.ended
	l.network.Cut()
}

// committed counts the ledger's commits for a company, and crashes the program after the chosen one.
func (l *life) committed(companies []string) {
	if len(companies) == 1 && companies[0] == settlement.House {
		return
	}
	if l.commits.Load() > 0 && l.commits.Add(-1) == 0 {
		l.crash()
	}
}

// isDead reports whether the program has crashed.
func (l *life) isDead() bool {
	select {
	case <-l.dead:
		return true
	default:
		return false
	}
}

// crash ends the life as a power failure does. It keeps an image of the database as of now, and cuts
// the network. Code of the program may go on, but reaches neither a provider nor the image. The
// providers keep their books.
func (l *life) crash() {
	l.once.Do(func() {
		path, _ := db.SQLitePath(l.world.home.Database)
		// The epoch in the file is never above that in the database, so the file is copied first.
		epoch, err := os.ReadFile(path + ".epoch")
		if err == nil {
			err = os.WriteFile(path+".epoch-image", epoch, 0o600)
		}
		if err = errors.Join(err, db.CopySQLite(context.Background(), path, path+"-image")); err != nil {
			l.world.wrong("crash: %v", err)
		}
		close(l.dead)
		l.network.Cut()
	})
}

// revive starts the program again if it has crashed.
func (w *world) revive() {
	w.t.Helper()
	if !w.life.isDead() {
		return
	}
	w.life.close() // the program ends with an error, because its listener is closed
	path, _ := db.SQLitePath(w.home.Database)
	for _, rest := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + rest); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.t.Fatal(err)
		}
	}
	if err := errors.Join(os.Rename(path+"-image", path), os.Rename(path+".epoch-image", path+".epoch")); err != nil {
		w.t.Fatal(err)
	}
	w.report.Starts++
	w.begin()
}

// restart stops the program as a signal does, and starts it again.
func (w *world) restart() {
	w.t.Helper()
	w.life.end()
	w.report.Starts++
	w.begin()
}

// dial connects the company to the program that lives.
func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return w.current.Load().network.DialContext(ctx, network, address)
}

// strict is the log of a life. An error in it fails the test, unless the program has crashed.
type strict struct{ life *life }

// Enabled reports whether the log takes lines of a level.
func (s strict) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle fails the test.
func (s strict) Handle(_ context.Context, r slog.Record) error {
	if s.life.isDead() {
		return nil
	}
	text, away := r.Message, false
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		away = away || a.Key == "status" && a.Value.String() == "503" // a provider is away, and the company was told so
		return true
	})
	if away {
		return nil
	}
	s.life.world.wrong("the program logs: %s", text)
	return nil
}

// WithAttrs returns the same log.
func (s strict) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup returns the same log.
func (s strict) WithGroup(string) slog.Handler { return s }
