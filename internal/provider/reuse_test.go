package provider

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A server may close a reused connection while a payment is on its way. The outcome is then unknown,
// and the payment is not sent again. The test server responds to the first request on each
// connection, and closes the connection at the second request.
func TestAPaymentOnAReusedConnectionIsSentOnce(t *testing.T) {
	var requests, connections atomic.Int32
	address := raw(t, func(conn net.Conn) {
		connections.Add(1)
		in := bufio.NewReader(conn)
		for n := 0; readRequest(in); n++ {
			requests.Add(1)
			if n > 0 {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") // the client's reply reveals a failed write
		}
	})
	c := newClient(t, "http://"+address)
	const payments = 20
	broken := 0
	for range payments {
		switch r := c.Pay(t.Context(), post); {
		case r.Trouble == CodeConnection && r.Answer().Outcome == Unknown:
			broken++
		case r.Trouble != "":
			t.Errorf("%+v", r)
		}
	}
	if requests.Load() != payments || broken != payments/2 || connections.Load() != payments/2 {
		t.Errorf("%d requests on %d connections for %d payments, %d of them unknown", requests.Load(), connections.Load(), payments, broken)
	}
}

// If the server closes an idle connection, the next payment gets a new connection, or its outcome
// is unknown. It is never sent twice.
func TestAnIdleConnectionThatTheServerCloses(t *testing.T) {
	var requests atomic.Int32
	address := raw(t, func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) {
			requests.Add(1)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") // the client's reply reveals a failed write
		}
	})
	c := newClient(t, "http://"+address)
	unknown := int32(0)
	const payments = 200
	for range payments {
		if r := c.Pay(t.Context(), post); r.Trouble != "" {
			if r.Answer().Outcome != Unknown {
				t.Errorf("%+v", r)
			}
			unknown++
		}
	}
	if n := requests.Load(); n+unknown != payments || n < payments/2 {
		t.Errorf("%d requests for %d payments, %d of them unknown", n, payments, unknown)
	}
}

// Concurrent payments each have a connection, later payments reuse these connections, and an idle
// connection is closed after payIdle.
func TestPaymentsReuseConnectionsForAShortTime(t *testing.T) {
	var connections, requests atomic.Int32
	ended := make(chan error, payingAtOnce)
	opened := make(chan struct{}, 10*payingAtOnce)
	gate := make(chan struct{})
	address := raw(t, func(conn net.Conn) {
		connections.Add(1)
		opened <- struct{}{}
		in := bufio.NewReader(conn)
		for readRequest(in) {
			if requests.Add(1) <= payingAtOnce {
				<-gate
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") // the client's reply reveals a failed write
		}
		_, err := in.ReadByte()
		ended <- err
	})
	c, err := NewClient(ClientConfig{BaseURL: "http://" + address, PayDeadline: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		var all sync.WaitGroup
		for range payingAtOnce {
			all.Go(func() {
				if r := c.Pay(t.Context(), post); r.Trouble != "" {
					t.Errorf("%+v", r)
				}
			})
		}
		if round == 0 {
			for range payingAtOnce {
				<-opened
			}
			close(gate)
		}
		all.Wait()
	}
	if n := connections.Load(); n != payingAtOnce {
		t.Errorf("%d connections for twice %d payments", n, payingAtOnce)
	}
	for range payingAtOnce {
		select {
		case err := <-ended:
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		case <-time.After(20 * payIdle):
			t.Fatal("an idle connection stays open")
		}
	}
}

// A payment without a body might be sent again by net/http, so it has a connection for itself.
func TestAPaymentWithoutABodyIsSentOnce(t *testing.T) {
	for _, call := range []Call{
		{Method: http.MethodGet, Path: "/pay"},
		{Method: http.MethodPost, Path: "/pay", Header: http.Header{"X-Idempotency-Key": {"1"}}},
	} {
		var requests, connections atomic.Int32
		address := raw(t, func(conn net.Conn) {
			connections.Add(1)
			for in := bufio.NewReader(conn); readRequest(in); {
				if requests.Add(1)%2 == 0 {
					return
				}
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") // the client's reply reveals a failed write
			}
		})
		c := newClient(t, "http://"+address)
		for range 4 {
			c.Pay(t.Context(), call)
		}
		if requests.Load() != 4 || connections.Load() != 4 {
			t.Errorf("%s: %d requests on %d connections", call.Method, requests.Load(), connections.Load())
		}
	}
}
