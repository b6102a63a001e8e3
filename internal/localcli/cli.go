package localcli

import (
	"fmt"
	"regexp"
	"strings"
)

var versionLine = regexp.MustCompile(`(?m)^(Terraform|OpenTofu) v(\S+)`)

// ParseVersion parses the output of a CLI's version command.
func ParseVersion(out string) (product, number string, err error) {
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return "", "", fmt.Errorf("this is neither Terraform nor OpenTofu: %s", out)
	}
	return m[1], m[2], nil
}

// Environment returns what the CLI gets of the user's environment: all but the
// variables that would change what it does, where it keeps its own files, or
// which account the provider uses. Logging stays in the user's hands.
func Environment(environ []string, configFile, home string) []string {
	var kept []string
	for _, v := range environ {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		steers := strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "TF_LOG")
		if !steers && !strings.HasPrefix(name, "MAILHOST_") && !strings.HasPrefix(name, "XDG_") && name != "HOME" {
			kept = append(kept, v)
		}
	}
	return append(kept,
		"HOME="+home,
		"TF_CLI_CONFIG_FILE="+configFile,
		"TF_IN_AUTOMATION=1", // no hints on what to type next
		"TF_INPUT=0",
		"CHECKPOINT_DISABLE=1", // no question for newer versions
	)
}
