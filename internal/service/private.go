package service

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// PrivateState is the provider's part of a resource's private state.
type PrivateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// SetPrivate stores a value in the private state. It panics if the value can't be
// encoded as JSON.
func SetPrivate(ctx context.Context, p PrivateState, key string, value any) diag.Diagnostics {
	data, err := json.Marshal(value)
	if err != nil {
		panic("service: " + err.Error())
	}
	return p.SetKey(ctx, key, data)
}

// GetPrivate returns a value of the private state, or the zero value if the key is missing.
func GetPrivate[T any](ctx context.Context, p PrivateState, key string) (value T) {
	data, _ := p.GetKey(ctx, key) // an error means an invalid key
	if json.Unmarshal(data, &value) != nil {
		return *new(T)
	}
	return value
}
