package api

//go:generate go run ../contract/render
//go:generate go tool oapi-codegen -config oapi-codegen.yaml -o spec.gen.go contract.json
