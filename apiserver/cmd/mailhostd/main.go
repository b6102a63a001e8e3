// Mailhostd serves the account management API from its own database, and provides commands for operators
// and CI: mailhostd --help lists them.
//
// Every setting is also an environment variable, such as MAILHOSTD_LISTEN for --listen; the flag takes
// precedence. A command prints text on a terminal and JSON elsewhere. An error is one line on stderr.
// The exit code is 0 on success, 1 on failure and 2 for an invalid command line.
//
// The program contains none of the API's rules: commands call the API's own operations, over HTTP or on
// a database in this process.
package main

import (
	"os"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/commands"
)

// version is set by the release build.
var version = ""

func main() { os.Exit(commands.Execute(version)) }
