// Command contract generates the client's types and calls from the server's contract.
//
// It runs oapi-codegen on a copy of internal/api/contract.json. In the copy, amounts of money become Kobo, the types of the
// server's own packages disappear, and only the
// successful responses stay.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// root is the folder of the repository, seen from the folder api, where go generate runs.
const root = "../../.."

// ours maps the server's types of a value to the client's types.
var ours = map[string]string{
	"money.Kobo": "Kobo", "money.Text": "Kobo",
	"any": "json.RawMessage", "json.RawMessage": "json.RawMessage", "json.Number": "json.Number",
	"string": "string", "bool": "bool",
}

// object is a JSON object.
type object = map[string]any

func main() {
	text, err := os.ReadFile(filepath.Join(root, "internal/api/contract.json"))
	if err != nil {
		log.Fatal(err)
	}
	var doc object
	if err := json.Unmarshal(text, &doc); err != nil {
		log.Fatal(err)
	}
	reason := doc["components"].(object)["headers"].(object)["Reason"].(object)["schema"]
	for path, item := range doc["paths"].(object) {
		for _, operation := range item.(object) {
			if operation, ok := operation.(object); ok {
				success(operation)
			}
		}
		if !strings.HasPrefix(path, "/api/") {
			delete(doc["paths"].(object), path)
		}
	}
	delete(doc, "webhooks")
	delete(doc["components"].(object), "responses")
	walk(doc)
	schemas := doc["components"].(object)["schemas"].(object)
	schemas["Reason"] = reason
	if text, err = json.Marshal(doc); err != nil {
		log.Fatal(err)
	}
	if err := generate(text); err != nil {
		log.Fatal(err)
	}
}

// generate runs the oapi-codegen that go.mod of the server names.
func generate(contract []byte) error {
	file, err := os.CreateTemp("", "contract-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(contract)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	c := exec.Command("go", "tool", "oapi-codegen", "-config", "clients/go/api/oapi-codegen.yaml", "-o", "clients/go/api/spec.gen.go", file.Name())
	c.Dir, c.Stderr = root, os.Stderr
	return c.Run()
}

// success removes the refusals of an operation, because the client returns them as *Refusal. It keeps each
// 2xx, because a 202 is a success that has not happened yet. It also removes the headers of the successes.
func success(operation object) {
	responses, _ := operation["responses"].(object)
	for status, response := range responses {
		if !strings.HasPrefix(status, "2") {
			delete(responses, status)
		} else if response, ok := response.(object); ok {
			delete(response, "headers")
		}
	}
	parameters, _ := operation["parameters"].([]any)
	for _, p := range parameters {
		if p, ok := p.(object); ok && p["name"] == "x-api-key" {
			p["x-go-name"] = "APIKey"
		}
	}
}

// walk replaces the Go types of all values in a part of the contract.
func walk(part any) {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			walk(p)
		}
	case object:
		if schema, ok := part["schema"].(object); ok && part["in"] != nil {
			optional(schema)
		}
		if server, ok := part["x-go-type"].(string); ok {
			if client := ours[server]; client != "" {
				part["x-go-type"] = client
			} else {
				delete(part, "x-go-type")
			}
			if client := part["x-go-type"]; client == "json.RawMessage" {
				delete(part, "oneOf")
			}
		}
		if part["x-percent"] == true { // the server writes hundredths of a percent as it writes kobo
			delete(part, "x-go-type")
		}
		if part["type"] == "number" && part["x-go-type"] == nil {
			part["x-go-type"] = "json.Number" // and never a float
		}
		for _, p := range part {
			walk(p)
		}
	}
}

// optional gives a parameter its natural type, with a pointer if it may be absent. The server reads
// parameters as texts, where an empty text means absence.
func optional(schema object) {
	delete(schema, "x-go-type-skip-optional-pointer")
	if schema["type"] != "string" {
		delete(schema, "x-go-type")
	}
}
