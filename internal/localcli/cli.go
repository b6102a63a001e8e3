package localcli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// CopyConfig copies a configuration and the folders below it, without what a CLI
// keeps beside them: hidden files, and states.
func CopyConfig(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		kept := rel != "." && (strings.HasPrefix(e.Name(), ".") || strings.Contains(e.Name(), ".tfstate"))
		switch {
		case e.IsDir() && kept:
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case kept || !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return copyFile(filepath.Join(to, rel), path, 0o600|info.Mode()&0o100) // a script stays one
	})
}

func copyFile(to, from string, mode os.FileMode) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, mode)
}
