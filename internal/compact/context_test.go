package compact

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// keeping is a framework's server that keeps the contexts of its calls.
type keeping struct {
	Framework
	t    *testing.T
	kept []context.Context
}

type loggerKey struct{}

func (k *keeping) keep(ctx context.Context) {
	k.kept = append(k.kept, ctx)
	if _, ok := ctx.Deadline(); !ok || ctx.Value(loggerKey{}) != "logger" || ctx.Err() != nil {
		k.t.Errorf("the context of a call has the value %v and the error %v", ctx.Value(loggerKey{}), ctx.Err())
	}
}

func (k *keeping) ReadResource(ctx context.Context, _ *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	k.keep(ctx)
	return &tfprotov6.ReadResourceResponse{}, nil
}

func (k *keeping) UpgradeResourceIdentity(ctx context.Context, _ *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	k.keep(ctx)
	return &tfprotov6.UpgradeResourceIdentityResponse{}, nil
}

// TestContextsAreReleased checks that a context which the framework keeps does not keep the
// request's context after the call.
func TestContextsAreReleased(t *testing.T) {
	request, cancel := context.WithTimeout(context.WithValue(t.Context(), loggerKey{}, "logger"), time.Hour)
	defer cancel()
	k := &keeping{t: t}
	s := &Server{k, func() map[string]*objectType { return map[string]*objectType{"compact": {}} }}
	for _, typeName := range []string{"plain", "compact"} {
		if _, err := s.ReadResource(request, &tfprotov6.ReadResourceRequest{TypeName: typeName}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.UpgradeResourceIdentity(request, &tfprotov6.UpgradeResourceIdentityRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, ctx := range k.kept {
		_, limited := ctx.Deadline()
		if ctx.Value(loggerKey{}) != nil || limited || !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("after the call the context has the value %v and the error %v", ctx.Value(loggerKey{}), ctx.Err())
		}
	}
	if len(k.kept) != 3 {
		t.Errorf("there were %d calls", len(k.kept))
	}
}
