package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

func TestConfigure(t *testing.T) {
	t.Parallel()
	failure := errors.New("the database is locked")
	for name, c := range map[string]struct {
		data       any
		configured string // part of the error
		opened     string
	}{
		"while validating": {nil, "", "before it was configured"},
		"something else":   {"a string", "handed over a string", "before it was configured"},
		"a failure":        {session.New(func(context.Context) (*client.Client, error) { return nil, failure }), "", strings.TrimPrefix(failure.Error(), "t")},
		"a session": {session.New(func(context.Context) (*client.Client, error) {
			return client.New(client.Options{BaseURL: "https://api.example.com", AccountID: "a"})
		}), "", ""},
	} {
		var r service.Resource[struct{}, thing]
		var rc resource.ConfigureResponse
		r.Configure(t.Context(), resource.ConfigureRequest{ProviderData: c.data}, &rc)
		check(t, name+", configured", rc.Diagnostics, c.configured)
		d := service.NewDataSource("thing", schema.Schema{}, func(context.Context, *client.Client, datasource.ReadRequest, *datasource.ReadResponse) {}).(datasource.DataSourceWithConfigure)
		var dc datasource.ConfigureResponse
		d.Configure(t.Context(), datasource.ConfigureRequest{ProviderData: c.data}, &dc)
		check(t, name+", configured", dc.Diagnostics, c.configured)

		var diags diag.Diagnostics
		if got := r.Client(t.Context(), &diags); (got == nil) != (c.opened != "") {
			t.Errorf("%s: the client is %p", name, got)
		}
		check(t, name+", opened", diags, c.opened)
		var read datasource.ReadResponse
		d.Read(t.Context(), datasource.ReadRequest{}, &read)
		check(t, name+", read", read.Diagnostics, c.opened)
	}
}

// thing is the model of a resource.
type thing struct{}

func (thing) String() string { return "thing" }

func check(t *testing.T, when string, diags diag.Diagnostics, want string) {
	t.Helper()
	switch {
	case want == "" && len(diags) > 0:
		t.Errorf("%s: %v", when, diags)
	case want != "" && (len(diags) != 1 || !strings.Contains(diags[0].Detail(), want)):
		t.Errorf("%s: %v, want %q", when, diags, want)
	}
}
