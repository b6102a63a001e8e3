// Mailhostd serves the account management API from its own database.
//
//	mailhostd init     creates an account and prints its id and a token
//	mailhostd serve    serves the API, and its reference at /docs
//	mailhostd openapi  prints the API's OpenAPI document
//
//	mailhostd account  creates, lists and shows accounts
//	mailhostd token    creates, lists and revokes tokens
//	mailhostd grant    lists, adds and removes rights
//	mailhostd login    signs a person in at the OAuth issuer
//	mailhostd whoami   shows whose token is in use
//
//	mailhostd doctor   checks the configuration, and what the server depends on
//	mailhostd fixture  loads, dumps and checks fixtures
//	mailhostd audit    prints the audit log: who changed what, and when
//	mailhostd import   creates mailboxes from a CSV file
//	mailhostd backup   copies a database, which may be in use
//	mailhostd restore  puts a backup in the place of a database
//	mailhostd migrate  copies everything to another database engine
//
//	mailhostd healthcheck  exits with 0 if a server on this machine is ready
//	mailhostd completion   prints what completes commands and flags in a shell
//	mailhostd man          prints the manual page
//
// Every setting has an environment variable, such as MAILHOSTD_LISTEN for --listen; the
// flag has precedence. A command prints text on a terminal and JSON elsewhere. An error is
// one line on stderr. The exit code is 0 on success, 1 on failure and 2 for an invalid
// command line.
//
// The program has the flags, listeners and signals, and none of the API's rules: commands
// call the API's own operations, over HTTP or on a database in this process. It may import
// everything below apiserver, and chooses the database engine.
//
// Below internal, package commands has the tree of these commands. The packages serve, access,
// operate and userimport have the commands themselves, and package cli what they share.
package main

import (
	"os"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/commands"
)

// version is set by the release build.
var version = ""

func main() { os.Exit(commands.Execute(version)) }
