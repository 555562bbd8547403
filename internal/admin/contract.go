package admin

import (
	"cmp"
	"context"
	_ "embed" // embeds the two documents
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/oapi-codegen/runtime"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

//go:generate go run ../contract/render -routes admin
//go:generate go tool oapi-codegen -config oapi-codegen.yaml -o spec.gen.go contract.json

// source is openapi.yaml as JSON for the program. public is the same document for callers.
var (
	//go:embed contract.json
	source []byte
	//go:embed openapi.json
	public []byte
)

// readContract parses the contract, once in a process.
var readContract = sync.OnceValues(func() (*contract.Contract, error) {
	return contract.Read(source, contract.Style{Words: words, Formats: formats})
})

// Reference serves the contract. The document contains no secret and needs no key.
func Reference() http.Handler { return contract.Asset("application/json", public, false) }

// taking returns an action that decodes the body of a request and passes it to the function do.
func taking[B any](do func(ctx context.Context, r *request, body B) (any, error)) action {
	return func(ctx context.Context, r *request) (any, error) {
		var body B
		if err := runtime.BindJSONValue(r.body, &body); err != nil {
			return nil, err // cannot happen, because the rules refuse such a body earlier
		}
		return do(ctx, r, body)
	}
}

// readBody reads the body of a request and checks it against the rules of the contract. The
// business services check the values.
func readBody(w http.ResponseWriter, r *request) (any, error) {
	b, err := contract.Decode(w, r.Request, r.op.MaxBody, unicode.IsControl)
	if errors.Is(err, contract.ErrTrailing) {
		return nil, contract.ErrMalformed
	}
	if err != nil {
		if list, _ := fault.Of(err).Extra[contract.Within].(string); list != "" {
			return nil, contract.Invalid(`"` + list + `" must not repeat a field`)
		}
		return nil, err
	}
	if _, isObject := b.Value.(map[string]any); !isObject {
		return nil, fault.New(fault.Invalid, "Request body must be a JSON object")
	}
	return b.Value, r.op.Check(b)
}

// formats check numbers and instants. An empty instant counts as missing.
var formats = map[string]func(any) error{
	"int64": func(v any) error {
		if n, ok := v.(json.Number); ok {
			if _, err := strconv.ParseUint(n.String(), 10, 53); err != nil {
				return errors.New("must be a positive integer")
			}
		}
		return nil
	},
	"naira": func(v any) error {
		n, ok := v.(json.Number)
		if !ok {
			return nil
		}
		_, err := money.Asked(n.String())
		return err
	},
	"date-time": func(v any) error {
		if text, _ := v.(string); text != "" {
			if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
				return errors.New("must be in ISO 8601 date format")
			}
		}
		return nil
	},
}

// words returns the message for a wrong type or format of a field. The business services check
// lengths, lists of values and limits. There is one exception: if a field may be null, words
// also refuses the value 0.
func words(k jsonschema.ErrorKind, f contract.Field) (text string, isAlone bool) {
	n, isNumber := f.Value.(json.Number)
	isZero := isNumber && strings.Trim(n.String(), "0.") == ""
	switch k := k.(type) {
	case *kind.Type:
		return typeWords(k.Want), false
	case *kind.Enum:
		if _, isText := f.Value.(string); !isText {
			return "must be a string", false
		}
	case *kind.Format:
		return k.Err.Error(), false
	case *kind.Minimum:
		if f.IsNullable && isZero {
			return "must be a positive integer", false
		}
	case *kind.ExclusiveMinimum:
		if f.IsNullable && isZero {
			return "must be greater than 0", false
		}
	}
	return "", false
}

func typeWords(types []string) string {
	switch want := types[len(types)-1]; want { // of two types, the first is null
	case "integer":
		return "must be a positive integer"
	case "array":
		return "must be an array"
	case "object":
		return "must be of type object"
	default:
		return "must be a " + want
	}
}

// instant parses a text that has passed the rules. An empty text becomes the zero time.
func instant(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// checkFilters refuses unknown query parameters, and values that cannot be read or that a parameter does not allow. If a
// mistyped filter were ignored, the list would show everything. If dry_run were ignored, the change
// would be made and not only previewed.
func checkFilters(r *request) error {
	if unknown := r.op.Unknown(r.URL.RawQuery); unknown != nil {
		return fault.Newf(fault.Invalid, "%q is not allowed", unknown[0])
	}
	if unreadable := r.op.Unreadable(r.URL.RawQuery); unreadable != nil {
		return fault.Newf(fault.Invalid, "%q must be percent-encoded", unreadable[0])
	}
	asked := r.URL.Query()
	for _, p := range r.op.Query {
		if value := asked.Get(p.Name); value != "" && p.Enum != nil && !slices.Contains(p.Enum, value) {
			return fault.Newf(fault.Invalid, "%q must be one of [%s]", p.Name, strings.Join(p.Enum, ", "))
		}
	}
	return nil
}

// filter returns the value of a query parameter, or the parameter's default.
func (r *request) filter(name string) string {
	p, _ := r.op.Find(name)
	return cmp.Or(r.URL.Query().Get(name), p.Default)
}

// list is the response data for one page of rows.
type list[R any] struct {
	Data []R  `json:"data"`
	Meta Meta `json:"meta"`
}

// listed reads the page that the request asks for, and turns its rows into the response data.
func listed[T, R any](ctx context.Context, r *request, row func(T) R, ask func(ctx context.Context, limit, offset int) ([]T, int64, error)) (any, error) {
	page := contract.NewPage(r.URL.Query().Get("page"), r.URL.Query().Get("pageSize"))
	items, total, err := ask(ctx, page.Size, page.Offset())
	return list[R]{rows(items, row), page.Meta(r.URL, len(items), int(total))}, err
}

// pages is a function that returns a page of a filtered list, and the total count.
type pages[F, T any] func(ctx context.Context, filter F, limit, offset int) ([]T, int64, error)

// The function filtered is like listed, but for a list with a filter.
func filtered[F, T, R any](ctx context.Context, r *request, row func(T) R, filter F, ask pages[F, T]) (any, error) {
	return listed(ctx, r, row, func(ctx context.Context, limit, offset int) ([]T, int64, error) {
		return ask(ctx, filter, limit, offset)
	})
}

// placed is a row that has a place in its list, which a cursor names.
type placed interface{ Cursor() string }

// after is a function that returns at most limit rows of a filtered list after a cursor. "" is before the first row.
type after[F any, T placed] func(ctx context.Context, filter F, cursor string, limit int) ([]T, error)

// cursorList is the response data for rows of a list that has numbered pages and cursors. Meta is nil after a cursor, because
// then nothing is counted.
type cursorList[R any] struct {
	Data []R     `json:"data"`
	Meta *Meta   `json:"meta"`
	Next *string `json:"next"`
}

var errTwoPlaces = fault.New(fault.Invalid, `"page" and "after" are two places in the list: send one of them`)

// The function continued is like filtered, for a list that also goes on after a cursor. The parameter "after" asks for it, also
// if it is empty.
func continued[F any, T placed, R any](ctx context.Context, r *request, row func(T) R, filter F, ask pages[F, T], follow after[F, T]) (any, error) {
	q := r.URL.Query()
	page := contract.NewPage(q.Get("page"), q.Get("pageSize"))
	if q.Has("after") {
		if q.Has("page") {
			return nil, errTwoPlaces
		}
		items, err := follow(ctx, filter, q.Get("after"), page.Size+1)
		more := len(items) > page.Size
		if more {
			items = items[:page.Size]
		}
		return cursorList[R]{rows(items, row), nil, next(items, more)}, err
	}
	items, total, err := ask(ctx, filter, page.Size, page.Offset())
	meta := page.Meta(r.URL, len(items), int(total))
	return cursorList[R]{rows(items, row), &meta, next(items, meta.HasNextPage)}, err
}

// next returns the cursor of the page after these rows, or nil if there is no more.
func next[T placed](items []T, more bool) *string {
	if !more || len(items) == 0 {
		return nil
	}
	cursor := items[len(items)-1].Cursor()
	return &cursor
}

// history lists the values that operators have set over time for the company in the path.
func history[T, R any](ctx context.Context, e *edge, r *request, row func(T) R, ask pages[string, T]) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	return filtered(ctx, r, row, c.Reference, ask)
}

// rows turns items into rows of a response. In JSON, a list without items becomes [] and not null.
func rows[T, R any](items []T, row func(T) R) []R {
	out := make([]R, len(items))
	for i, item := range items {
		out[i] = row(item)
	}
	return out
}
