// Package apitest plays transcripts, which are readable files of requests and expected responses.
// A player sends the requests to a server over HTTP. It compares every response with the
// transcript and with the OpenAPI document.
//
// A file is a list of exchanges in the order of play:
//
//	### Bought and delivered
//	POST /api/v1/vtu/purchase-data
//	Authorization: Bearer $access
//	Content-Type: application/json
//
//	{"idempotencyKey": "order-$run", "settlementId": $settlement_id}
//	---
//	200
//	X-Request-Id: <any>
//
//	{"success": true, "data": {"transactionId": "<reference $tx>", "amount": "500.00"}}
//
// $name is a given or captured value. In a response, the string "<kind>" matches any value of
// that kind, and "<kind $name>" also captures the value. "<...>" as the last item of a list
// matches further items. As the last key of an object, "<...>" matches further fields. The order
// of the fields matters. A line "@eventually" above a request repeats the request until the
// response matches, for at most a minute. In the body of a request, "<repeat x 100>" is replaced
// by a hundred x. Lines that begin with "# " are comments.
package apitest

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Exchange is one request and its expected response.
type Exchange struct {
	Title      string
	Eventually bool
	Method     string
	Target     string // path and query
	Header     [][2]string
	Body       string
	Status     int
	Want       [][2]string // headers of the response
	Answer     string      // empty if any body matches
}

// Read parses the exchanges of a transcript.
func Read(files fs.FS, name string) ([]Exchange, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	var out []Exchange
	for i, part := range strings.Split("\n"+string(text), "\n### ") {
		if i == 0 {
			continue // the text before the first title is an introduction
		}
		e, err := parse(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, e.Title, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// parse reads one exchange, from its title to the next title.
func parse(text string) (Exchange, error) {
	title, rest, _ := strings.Cut(text, "\n")
	e := Exchange{Title: strings.TrimSpace(title)}
	request, answer, found := strings.Cut(rest, "\n---\n")
	if !found {
		return e, fmt.Errorf("there is no line --- between request and answer")
	}
	first, header, body, err := message(request, &e)
	if err != nil {
		return e, err
	}
	e.Header, e.Body = header, body
	if e.Method, e.Target, found = strings.Cut(first, " "); !found {
		return e, fmt.Errorf("%q is not a method and a path", first)
	}
	first, e.Want, e.Answer, err = message(answer, &e)
	if err != nil {
		return e, err
	}
	e.Status, err = strconv.Atoi(first)
	return e, err
}

// message splits a request or a response into first line, headers and body.
func message(text string, e *Exchange) (first string, header [][2]string, body string, err error) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "# "):
		case line == "@eventually":
			e.Eventually = true
		case line == "" && first == "":
		case line == "":
			return first, header, strings.TrimSpace(strings.Join(lines[i:], "\n")), nil
		case first == "":
			first = line
		default:
			name, value, found := strings.Cut(line, ":")
			if !found {
				return "", nil, "", fmt.Errorf("%q is not a header", line)
			}
			header = append(header, [2]string{name, strings.TrimSpace(value)})
		}
	}
	return first, header, "", nil
}
