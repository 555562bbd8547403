package kobo_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kobo "github.com/kobo-waas/kobo/clients/go"
	"github.com/kobo-waas/kobo/clients/go/api"
)

var errEnough = errors.New("enough")

// A consumer gets each event once and in order, over its own restarts and those of the server.
func TestConsume(t *testing.T) {
	s := start(t)
	c := s.client(kobo.Options{})
	shop := newShop(t, s, c)
	place := kobo.FilePlace(filepath.Join(t.TempDir(), "place"))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	last := int64(0)
	for round := range 3 {
		shop.airtime("10")(ctx)
		launched := make(chan struct{})
		go func() {
			defer close(launched)
			if round == 1 {
				s.kill()
				s.launch()
			}
		}()
		var bought bool
		err := c.Consume(ctx, place, func(_ context.Context, e kobo.Event) error {
			if e.Sequence != last+1 {
				t.Errorf("event %d after event %d", e.Sequence, last)
			}
			last = e.Sequence
			if bought = e.Event == "vtu.success"; bought {
				return errEnough
			}
			return nil
		})
		<-launched
		if !errors.Is(err, errEnough) || !bought {
			t.Fatal(err)
		}
		// The event whose handling failed was not saved, so it comes again.
		last--
		if saved := must(place.Load(ctx))(t); saved != last {
			t.Errorf("the place is %d, not %d", saved, last)
		}
		if err := place.Save(ctx, last+1); err != nil {
			t.Fatal(err)
		}
		last++
	}
}

// A gap in the feed is an error, because a consumer would miss an event. An event that was saved is not
// passed again.
func TestConsumeRefusesAGap(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int64) {
		_, _ = io.WriteString(w, `{"status":"success","data":{"data":[{"id":"b","sequence":2},{"id":"c","sequence":3},{"id":"e","sequence":5}],"hasMore":false}}`)
	})
	place := kobo.FilePlace(filepath.Join(t.TempDir(), "place"))
	if err := place.Save(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := f.client(t).Consume(t.Context(), place, func(_ context.Context, e kobo.Event) error {
		got = append(got, e.ID)
		return nil
	})
	if err == nil || strings.Join(got, " ") != "c" || must(place.Load(t.Context()))(t) != 3 {
		t.Errorf("%v %v", got, err)
	}
}

// A webhook message of the server is genuine, and any change of it is not.
func TestVerifyWebhook(t *testing.T) {
	type message struct {
		header http.Header
		body   []byte
	}
	arrived := make(chan message, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived <- message{r.Header, body}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer receiver.Close()
	s := start(t)
	c := s.client(kobo.Options{})
	hook := must(c.API().CreateWebhookWithResponse(t.Context(), nil, api.WebhookRequest{URL: receiver.URL}))(t).JSON200.Data
	newShop(t, s, c).airtime("10")(t.Context())
	var m message
	select {
	case m = <-arrived:
	case <-time.After(30 * time.Second):
		t.Fatal("no message arrived")
	}
	e, err := kobo.VerifyWebhook(*hook.Secret, m.header, m.body)
	if err != nil || e.Environment != "dev" || e.Sequence == 0 {
		t.Fatalf("%v %v", e, err)
	}
	other := m.header.Clone()
	other.Set("webhook-id", "other")
	old := m.header.Clone()
	old.Set("webhook-timestamp", "1600000000")
	for label, one := range map[string]struct {
		secret string
		header http.Header
		body   []byte
	}{
		"another body":   {*hook.Secret, m.header, bytes.Replace(m.body, []byte("dev"), []byte("live"), 1)},
		"another id":     {*hook.Secret, other, m.body},
		"another time":   {*hook.Secret, old, m.body},
		"another secret": {"whsec_" + base64.StdEncoding.EncodeToString([]byte("another secret of 32 characters.")), m.header, m.body},
		"no signature":   {*hook.Secret, http.Header{}, m.body},
	} {
		if _, err := kobo.VerifyWebhook(one.secret, one.header, one.body); err == nil {
			t.Errorf("%s is genuine", label)
		}
	}
}

// A receipt of the server is valid without the server, and any change of it is found.
func TestVerifyReceipt(t *testing.T) {
	s := start(t)
	c := s.client(kobo.Options{})
	shop := newShop(t, s, c)
	ctx := t.Context()
	key := must(c.API().FindCheckpointKeyWithResponse(ctx))(t).JSON200.Data.Key
	var r api.Receipt
	for range 5 { // trees of several sizes and shapes
		paid, ok := shop.airtime("10")(ctx).(kobo.Succeeded)
		if !ok {
			t.Fatal("not paid")
		}
		r = must(c.API().FindReceiptWithResponse(ctx, paid.Reference, nil))(t).JSON200.Data
		proven, err := kobo.VerifyReceipt(r, key)
		if err != nil {
			t.Fatal(err)
		}
		if proven.Company != s.Reference || proven.Table == "" || !strings.Contains(strings.Join(values(proven.Row), " "), paid.Reference) {
			t.Errorf("%+v", proven)
		}
	}
	erased := r
	erased.Leaf.Salt, erased.Leaf.Content, erased.Leaf.Erased = "", "", true
	if proven, err := kobo.VerifyReceipt(erased, key); err != nil || proven.Table != "" || proven.Row != nil {
		t.Errorf("%+v %v", proven, err)
	}
	for label, change := range map[string]func(*api.Receipt){
		"the index":      func(r *api.Receipt) { r.Index++ },
		"a low index":    func(r *api.Receipt) { r.Index = -1 },
		"the content":    func(r *api.Receipt) { r.Leaf.Content = flip(r.Leaf.Content) },
		"the hash":       func(r *api.Receipt) { r.Leaf.Hash = flip(r.Leaf.Hash) },
		"the salt":       func(r *api.Receipt) { r.Leaf.Salt = strings.Repeat("A", 22) },
		"a proof":        func(r *api.Receipt) { r.Proof = append([]string{flip(r.Proof[0])}, r.Proof[1:]...) },
		"a short proof":  func(r *api.Receipt) { r.Proof = r.Proof[1:] },
		"a long proof":   func(r *api.Receipt) { r.Proof = append(r.Proof[:len(r.Proof):len(r.Proof)], r.Leaf.Hash) },
		"the size":       func(r *api.Receipt) { r.Checkpoint = strings.Replace(r.Checkpoint, "\n", "\n1", 1) },
		"no signature":   func(r *api.Receipt) { r.Checkpoint, _, _ = strings.Cut(r.Checkpoint, "—") },
		"the deployment": func(r *api.Receipt) { r.Deployment.Index++ },
		"the wrong tree": func(r *api.Receipt) { r.Deployment.Checkpoint = r.Checkpoint },
		"hidden content": func(r *api.Receipt) { r.Leaf.Erased = true },
	} {
		changed := r
		change(&changed)
		if _, err := kobo.VerifyReceipt(changed, key); err == nil {
			t.Errorf("the receipt is valid after a change of %s", label)
		}
	}
	for _, wrong := range []string{"", "a+b", flip(key), strings.Replace(key, "+", "+0", 1)} {
		if _, err := kobo.VerifyReceipt(r, wrong); err == nil {
			t.Errorf("the key %q is valid", wrong)
		}
	}
}

// flip changes a bit in the middle of a text in base64.
func flip(text string) string {
	b := []byte(text)
	at := len(b) / 2
	if b[at] == 'A' {
		b[at] = 'B'
	} else {
		b[at] = 'A'
	}
	return string(b)
}

func values(row map[string]string) (out []string) {
	for _, v := range row {
		out = append(out, v)
	}
	return out
}
