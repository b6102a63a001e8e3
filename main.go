// The provider mailhost/mailhost manages an email-hosting account.
package main

import (
	"flag"
	"log"
	"os"
	"runtime/debug"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

//go:generate go run ./internal/docs

// version is set by the release build.
var version = "dev"

func main() {
	debugger := flag.Bool("debug", false, "run so that a debugger like delve can attach")
	flag.Parse()
	quietUnlessAsked()
	// A provider process lives for one command: trading memory for less
	// collection makes large plans faster.
	debug.SetGCPercent(400)
	if err := provider.Serve(version, *debugger); err != nil {
		log.Fatal(err)
	}
}

// quietUnlessAsked turns the plugin SDK's own trace lines off where nobody asked
// for logs. Otherwise every call formats them and sends them to Terraform, which
// drops them: it is the biggest cost of a large plan.
func quietUnlessAsked() {
	sdk := []string{"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK"}
	for _, name := range append([]string{"TF_LOG", "TF_LOG_PROVIDER"}, sdk...) {
		if os.Getenv(name) != "" {
			return
		}
	}
	for _, name := range sdk {
		_ = os.Setenv(name, "OFF")
	}
}
