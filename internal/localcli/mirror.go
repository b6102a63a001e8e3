package localcli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
)

// hosts are the registries that Terraform and OpenTofu take a provider source
// without a host to be in.
var hosts = []string{"registry.terraform.io", "registry.opentofu.org"}

// mirrored returns where a provider of a source such as mailhost/mailhost lies in a
// mirror for a host (the unpacked layout of a filesystem mirror).
func mirrored(mirror, host, source, version, platform string) string {
	name := "terraform-provider-" + path.Base(source) + "_v" + version
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(mirror, host, filepath.FromSlash(source), version, platform, name)
}

// Install builds the provider and puts it into a mirror for all hosts, in place
// of what is there.
func Install(ctx context.Context, build Builder, mirror, version string) error {
	if err := os.RemoveAll(mirror); err != nil {
		return err
	}
	return add(mirror, "mailhost/mailhost", version, func(path string) error { return build(ctx, path) })
}

// Add puts a built provider of another source into a mirror for all hosts.
func Add(mirror, source, version, built string) error {
	return add(mirror, source, version, func(path string) error { return copyFile(path, built, 0o755) })
}

// add makes the provider's file for the first host, and copies it for the others.
func add(mirror, source, version string, make func(path string) error) error {
	var made string
	for _, host := range hosts {
		path := mirrored(mirror, host, source, version, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		var err error
		if made == "" {
			made, err = path, make(path)
		} else {
			err = copyFile(path, made, 0o755)
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
