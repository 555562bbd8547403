// Package api holds the types and the calls of Kobo's contract, generated from the contract.
//
// Package kobo above it adds tokens, keys, retries and outcomes: use [kobo.Client.API] for the calls
// of this package.
//
// [kobo.Client.API]: https://pkg.go.dev/github.com/kobo-waas/kobo/clients/go#Client.API
package api

//go:generate go run ../internal/contract
