package app

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A stopping server closes the connections on which no request has come, and still responds to
// running requests.
func TestConnectionsWithoutARequestAreClosed(t *testing.T) {
	var waiting newConnections
	entered, goOn := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-goOn
		_, _ = io.WriteString(w, "done")
	}))
	seen := make(chan struct{}, 8)
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		waiting.track(c, s)
		if s == http.StateNew {
			seen <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err == nil {
			err = c.SetDeadline(time.Now().Add(time.Minute))
		}
		if err != nil {
			t.Fatal(err)
		}
		<-seen
		return c
	}
	asking, unused := dial(), dial()
	defer asking.Close()
	defer unused.Close()
	if _, err := io.WriteString(asking, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-entered
	waiting.close()
	if _, err := unused.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the unused one: %v", err)
	}
	close(goOn)
	answer, err := http.ReadResponse(bufio.NewReader(asking), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "done" {
		t.Errorf("what was in hand: %q, %v", text, err)
	}
}
