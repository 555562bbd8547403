package api

//go:generate go tool oapi-codegen -config oapi-codegen.yaml -o spec.gen.go openapi.yaml
