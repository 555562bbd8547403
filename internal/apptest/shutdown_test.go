package apptest_test

import (
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// alone runs f on each database while no other test runs.
func alone(t *testing.T, f func(t *testing.T, dialect db.Dialect)) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) { f(t, dialect) })
	}
}

// untilRunning waits until a goroutine of this process runs the function.
func untilRunning(t *testing.T, function string) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	apptest.Eventually(t, func() string {
		if !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), function) {
			return "nobody is in " + function
		}
		return ""
	})
}

// A stopping program finishes its work. A purchase that the provider is processing gets its
// response, a long poll gets its response immediately, and no job is lost.
func TestAProgramEndsInOrder(t *testing.T) {
	alone(t, func(t *testing.T, dialect db.Dialect) {
		g := newGate()
		home := apptest.NewHome(t, dialect)
		p := home.Start(t, apptest.Around(g.around))
		bundle := p.Bundle()
		head := int64(len(p.Events(0)))
		waiting := poll(t, p.Client, head+100)
		buying := ask(t, p.Client, p.Order(bundle, "last", "04"))
		await(t, g.entered)
		untilRunning(t, "event.(*Service).await")
		stopped := make(chan struct{})
		p.Stopping()
		go func() { p.Stop(); close(stopped) }()
		var feed struct {
			Data struct{ Data []apptest.Event }
		}
		if await(t, waiting).Want(t, http.StatusOK).Into(t, &feed); len(feed.Data.Data) != 0 {
			t.Errorf("the long poll was answered %+v", feed)
		}
		select {
		case <-stopped:
			t.Error("the program is gone while a purchase is at the provider")
		default:
		}
		close(g.open)
		if tr := p.Bought(await(t, buying)); tr.Status != "PENDING" {
			t.Errorf("the purchase in hand: %+v", tr)
		}
		await(t, stopped)
		next := home.Start(t)
		next.Audit(t, apptest.DevFloat)
		next.Advance(10 * time.Second)
		resolved(t, next.Client)
		if tr := next.Transaction("last"); tr.Status != "SUCCESS" {
			t.Errorf("the purchase in hand: %+v", tr)
		}
		next.Audit(t, apptest.DevFloat)
	})
}

// A stopped program leaves no goroutine in the process.
func TestAProgramLeavesNoGoroutine(t *testing.T) {
	alone(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		before := goleak.IgnoreCurrent()
		p := home.Start(t, apptest.Window(time.Second))
		bundle := p.Bundle()
		for i, ending := range []string{"10", "02", "02"} { // the sandbox holds back these responses until the caller gives up
			p.Buy(p.Order(bundle, "leak-"+strconv.Itoa(i), ending))
		}
		p.Advance(time.Minute)
		p.Stop()
		goleak.VerifyNone(t, before)
	})
}
