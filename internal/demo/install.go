package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hc-install/product"
	"github.com/hashicorp/hc-install/releases"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// installCLI downloads Terraform into a folder, checks its signature, and
// returns its path.
func installCLI(ctx context.Context, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	source := &releases.LatestVersion{
		Product:     product.Terraform,
		Constraints: version.MustConstraints(version.NewConstraint(">= 1.8, < 2.0")),
		InstallDir:  dir,
		Timeout:     10 * time.Minute,
	}
	return source.Install(ctx)
}

// adviseInstall says what to do where the CLI can't be installed.
func adviseInstall(cause error, binDir string) error {
	return fmt.Errorf(`%w, and installing Terraform failed:
  %w

Install one of these, so that it is on PATH, and run the same command again:
  Terraform %s or later: https://developer.hashicorp.com/terraform/install
  OpenTofu %s or later: https://opentofu.org/docs/intro/install/
Or name an executable that is elsewhere: make demo TF_CLI=/path/to/terraform
Or unpack Terraform's executable to %s`,
		errNoCLI, cause, localcli.Oldest["Terraform"], localcli.Oldest["OpenTofu"], filepath.Join(binDir, product.Terraform.BinaryName()))
}
