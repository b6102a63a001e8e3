// Command demo installs the newest Terraform into a folder, checks the signature of the release, and
// prints the path, for a machine without a CLI. The scripts demo.sh and cli.sh use it for make demo.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hc-install/product"
	"github.com/hashicorp/hc-install/releases"
)

func main() {
	source := &releases.LatestVersion{
		Product:     product.Terraform,
		Constraints: version.MustConstraints(version.NewConstraint(">= 1.8, < 2.0")),
		InstallDir:  os.Args[1],
		Timeout:     10 * time.Minute,
	}
	path, err := source.Install(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(path)
}
