package provider

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// TestClose checks that the provider closes its database, so that the file is complete and
// the write-ahead log is empty.
func TestClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &process{}
	if _, err := (settings{dataDir: dir}).open(t.Context(), p, "test"); err != nil {
		t.Fatal(err)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	log, err := os.Stat(filepath.Join(dir, databaseName+"-wal"))
	if err == nil && log.Size() > 0 {
		t.Errorf("%d bytes are left in the log", log.Size())
	}
}

// The cleanups run before the account is closed.
func TestCloseEndsSessions(t *testing.T) {
	t.Parallel()
	p := &process{}
	s := configure(t, p, t.TempDir())
	c, err := s.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	s.AddCleanup("an object", func(ctx context.Context) error {
		ended = true
		_, err := c.GetAccount(ctx)
		return err
	})
	if err := p.close(); err != nil || !ended {
		t.Errorf("ended: %t, %v", ended, err)
	}
}

// configure returns the session of a provider with an embedded account.
func configure(t *testing.T, p *process, dataDir string) *session.Session {
	t.Helper()
	served := newIn(p, "test")()
	var described provider.SchemaResponse
	served.Schema(t.Context(), provider.SchemaRequest{}, &described)
	all := described.Schema.Type().TerraformType(t.Context()).(tftypes.Object)
	embedded := all.AttributeTypes["embedded"].(tftypes.Object)
	config := map[string]tftypes.Value{}
	for name, kind := range all.AttributeTypes {
		config[name] = tftypes.NewValue(kind, nil)
	}
	config["embedded"] = tftypes.NewValue(embedded, map[string]tftypes.Value{
		"data_dir": tftypes.NewValue(tftypes.String, dataDir),
		"fixture":  tftypes.NewValue(tftypes.String, nil),
	})
	var resp provider.ConfigureResponse
	served.Configure(t.Context(), provider.ConfigureRequest{Config: tfsdk.Config{Schema: described.Schema, Raw: tftypes.NewValue(all, config)}}, &resp)
	if resp.Diagnostics.HasError() {
		t.Fatal(resp.Diagnostics)
	}
	return resp.EphemeralResourceData.(*session.Session)
}
