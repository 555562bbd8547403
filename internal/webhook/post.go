package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/text"
)

const (
	// enough is how many bytes of a response are read at most.
	enough = 64 << 10
	// excerptLength is how many characters of a response are stored at most.
	excerptLength = 300
	// answerLength is how many bytes of a failed attempt's response are stored at most.
	answerLength = 1 << 10
)

// result is the result of one attempt.
type result struct {
	status  int64  // the status of the response; 0 for no response
	latency int64  // the duration of the attempt, in milliseconds
	excerpt string // the beginning of the response's body
	answer  string // more of the body of a failed attempt's response, redacted
	trouble string // why the attempt failed; "" if it succeeded
}

func (r result) isSuccess() bool { return r.trouble == "" }

// post makes one attempt to post a message, and measures its duration.
func (s *Service) post(ctx context.Context, url, messageID string, body []byte, secrets []secret.Text) result {
	start := time.Now()
	r := attempt(ctx, s.client, url, messageID, body, secrets)
	took := time.Since(start)
	r.latency = took.Milliseconds()
	s.figures.took.Observe(took.Seconds())
	return r
}

// Try makes one attempt with the caller's HTTP client, for programs such as `kobo listen`. It
// returns the reason of a failure in trouble, or "" for a success.
func Try(ctx context.Context, client *http.Client, url, messageID string, body []byte, key secret.Text) (status int, excerpt, trouble string) {
	r := attempt(ctx, client, url, messageID, body, []secret.Text{key})
	return int(r.status), r.excerpt, r.trouble
}

// attempt posts one message. The signed time is the machine's time and not the sandbox's time,
// since receivers compare it with their own clocks.
func attempt(ctx context.Context, client *http.Client, url, messageID string, message []byte, secrets []secret.Text) (r result) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(message))
	if err != nil {
		return result{trouble: "the url cannot be used"}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Kobo-Webhooks/1")
	if err := Sign(request.Header, messageID, time.Now(), message, secrets...); err != nil {
		return result{trouble: "the message cannot be signed"}
	}
	answer, err := client.Do(request)
	if err != nil {
		return result{trouble: reason(err)}
	}
	defer func() { _ = answer.Body.Close() }() // the response has been read, so an error does not matter
	r = result{status: int64(answer.StatusCode)}
	var body []byte
	if r.status >= 200 { // a response with status 101 has no body, and reading from it would never end
		body, err = io.ReadAll(io.LimitReader(answer.Body, enough))
		r.excerpt = printable(body)
	}
	switch {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		r.trouble = "redirects are not followed"
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		r.trouble = "the answer was " + strconv.Itoa(answer.StatusCode)
	case err != nil:
		r.trouble = reason(err)
	}
	if !r.isSuccess() {
		r.answer = text.RedactedBody(body, answerLength)
	}
	return r
}

// reason returns why there was no response. The text contains no address, so that a company
// learns nothing about our network.
func reason(err error) string {
	var (
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		sick tls.RecordHeaderError
	)
	var slow net.Error
	switch {
	case isForbidden(err):
		return "the address is not public"
	case errors.Is(err, context.Canceled):
		return "the server was stopped"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return "no answer within 10 seconds"
	case errors.As(err, &dns):
		return "the host name cannot be looked up"
	case errors.As(err, &cert):
		return "the certificate is not valid"
	case errors.As(err, &sick), errors.Is(err, http.ErrSchemeMismatch):
		return "the host does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	}
	return "the connection failed"
}

// printable returns the beginning of a body as text without control characters, which every
// database accepts.
func printable(body []byte) string {
	out := strings.ToValidUTF8(string(body), "\uFFFD")
	out = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, out))
	if utf8.RuneCountInString(out) > excerptLength {
		out = string([]rune(out)[:excerptLength]) + "…"
	}
	return out
}
