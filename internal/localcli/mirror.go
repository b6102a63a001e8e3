package localcli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

// hosts are the registries that Terraform and OpenTofu take a provider source
// without a host to be in.
var hosts = []string{"registry.terraform.io", "registry.opentofu.org"}

// Install builds the provider and puts it into a mirror (the unpacked layout of a filesystem
// mirror) for all hosts, in place of what is there.
func Install(ctx context.Context, build Builder, mirror, version string) error {
	if err := os.RemoveAll(mirror); err != nil {
		return err
	}
	name := "terraform-provider-mailhost_v" + version
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var built string
	for _, host := range hosts {
		file := filepath.Join(mirror, host, "mailhost", "mailhost", version, runtime.GOOS+"_"+runtime.GOARCH, name)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		switch {
		case err != nil:
		case built == "":
			built, err = file, build(ctx, file)
		default:
			err = copyFile(file, built, 0o755)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Builder builds the provider into a file.
type Builder func(ctx context.Context, path string) error

// GoBuild returns a builder that compiles the module at root.
func GoBuild(root, version string, stderr io.Writer) Builder {
	return func(ctx context.Context, path string) error {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", path, ".")
		cmd.Dir, cmd.Stdout, cmd.Stderr = root, stderr, stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("the provider does not compile: %w", err)
		}
		return nil
	}
}

// Config returns a CLI configuration that knows only one place to install
// providers from.
func Config(mirror string) string {
	return fmt.Sprintf(`# The only place to install providers from.
provider_installation {
  filesystem_mirror {
    path = %s
  }
}
`, strconv.Quote(filepath.ToSlash(mirror)))
}
