package apitest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const small = `{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/api/a": {"get": {"operationId": "a", "responses": {
  "200": {"description": "d", "content": {"application/json": {"schema": {"type": "object", "additionalProperties": false, "required": ["one"], "properties": {
    "one": {"$ref": "#/components/schemas/One"}, "at": {"type": ["string", "null"], "format": "date-time"}, "n": {"type": "integer", "format": "int32"}}}}}},
  "400": {"$ref": "#/components/responses/Bad"}}}}},
  "components": {"schemas": {"One": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "minLength": 2}, "next": {"$ref": "#/components/schemas/One"}}}},
    "responses": {"Bad": {"description": "d", "headers": {"Why": {"schema": {"enum": ["x", "y"]}}, "Left": {"required": true, "schema": {"type": "integer", "minimum": 0}}}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/One"}}}}}}}`

// A body is compared with the schema of its status, also below references and in the second response.
func TestBodiesAreComparedWithTheirSchema(t *testing.T) {
	c, err := ReadContract([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		status int
		body   string
		holds  bool
	}{
		{200, `{"one":{"id":"ab"}}`, true},
		{200, `{"one":{"id":"ab","next":{"id":"cd"}},"at":null,"n":7}`, true},
		{200, `{"one":{"id":"ab"},"at":"2026-01-02T03:04:05Z"}`, true},
		{200, `{"one":{"id":"ab"},"at":"yesterday"}`, false},
		{200, `{"one":{"id":"a"}}`, false},
		{200, `{"one":{"id":"ab","next":{"id":"c"}}}`, false},
		{200, `{"one":{"id":"ab"},"two":1}`, false},
		{200, `{"one":{"id":"ab"},"n":3000000000}`, false},
		{200, `{"one":{"id":"ab"},"n":1.5}`, false},
		{200, `{}`, false},
		{200, `{"one":`, false},
		{400, `{"id":"ab"}`, true},
		{400, `{"one":{"id":"ab"}}`, false},
		{401, `{"id":"ab"}`, false},
	} {
		for range 2 { // the second time with the compiled schema
			r := httptest.NewRequest(http.MethodGet, "/api/a", nil)
			err := c.Holds(r, one.status, http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Left": {"3"}}, []byte(one.body))
			if (err == nil) != one.holds {
				t.Errorf("%d %s: %v", one.status, one.body, err)
			}
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/api/a", nil)
	if err := c.Holds(r, http.StatusOK, http.Header{"Content-Type": {"text/plain"}}, []byte(`{"one":{"id":"ab"}}`)); err == nil || !strings.Contains(err.Error(), "text/plain") {
		t.Errorf("a body of another type: %v", err)
	}
}

// The headers of a response are compared with their schemas too.
func TestHeadersAreComparedWithTheirSchema(t *testing.T) {
	c, err := ReadContract([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for left, holds := range map[string]bool{"3": true, "0": true, "": false, "-1": false, "three": false, "1.5": false, "3 4": false} {
		for why, isReason := range map[string]bool{"": true, "x": true, "z": false} {
			h := http.Header{"Content-Type": {"application/json"}, "Left": {left}, "Why": {why}}
			err := c.Holds(httptest.NewRequest(http.MethodGet, "/api/a", nil), http.StatusBadRequest, h, []byte(`{"id":"ab"}`))
			if (err == nil) != (holds && isReason) {
				t.Errorf("%q, %q: %v", left, why, err)
			}
		}
	}
}
