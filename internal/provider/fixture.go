package provider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

// loadedName is a file in the data directory: the SHA-256 of the fixture loaded last.
const loadedName = "fixture.sha256"

// loadFixture loads the fixture's accounts that do not exist yet.
func (s settings) loadFixture(ctx context.Context, service *apiserver.Service) error {
	if s.fixture == "" {
		return nil
	}
	text, err := os.ReadFile(s.fixture)
	if err != nil {
		return fmt.Errorf("can't read embedded.fixture: %w", err)
	}
	seed, err := fixture.Read(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("can't read embedded.fixture %s: %w", s.fixture, err)
	}
	existing, err := service.Accounts(ctx)
	if err != nil {
		return err
	}
	isNew := slices.ContainsFunc(seed.Accounts, func(a fixture.Account) bool {
		return !slices.Contains(existing, strings.ToLower(a.ID))
	})
	if err := service.LoadFixture(ctx, seed); err != nil {
		return fmt.Errorf("fixture %s: %w", s.fixture, err)
	}
	if !isNew {
		return nil
	}
	return os.WriteFile(filepath.Join(s.dataDir, loadedName), []byte(sum(text)), 0o600)
}

// warnFixtureChanged warns about a fixture changed after it was loaded: its accounts exist, so the
// changes are ignored.
func (s settings) warnFixtureChanged(diags *diag.Diagnostics) {
	if s.fixture == "" {
		return
	}
	loaded, err := os.ReadFile(filepath.Join(s.dataDir, loadedName))
	if err != nil {
		return // not loaded yet
	}
	text, err := os.ReadFile(s.fixture)
	if err != nil || sum(text) == string(loaded) {
		return
	}
	diags.AddAttributeWarning(path.Root("embedded").AtName("fixture"), "The fixture has changed since it was loaded",
		fmt.Sprintf("%s was loaded when the account in %s was created, and does not change an account that exists: the account still has what the earlier file said. Only the registrar's rules are those of the file now.\n\n"+
			"To load the file as it is now, use another data_dir, or remove %s and the state of its objects, which deletes the account.", s.fixture, s.dataDir, s.dataDir))
}

func sum(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }
