// Package licences lists the licences of the modules that the provider and mailhostd link, in
// licences.csv. make licences rewrites the list.
package licences

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
)

// phrases identify a licence. Each listed licence allows the distribution of both programs in source
// and binary form, with the licence's text.
var phrases = []struct {
	licence string
	text    *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License,? Version 2\.0`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"BSD-3-Clause", regexp.MustCompile(`used to endorse or promote products derived from this software`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and/?(or)? distribute this software for any purpose with or without fee`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
}

// TestLicences fails if licences.csv is stale, or if nobody has reviewed the licence of a dependency.
func TestLicences(t *testing.T) {
	t.Parallel()
	users := map[string][]string{} // the programs that link a module
	folders := map[string]string{}
	for _, program := range []struct{ name, path string }{{"provider", "."}, {"mailhostd", "./apiserver/cmd/mailhostd"}} {
		for module, folder := range modules(t, program.path) {
			users[module] = append(users[module], program.name)
			folders[module] = folder
		}
	}
	var list bytes.Buffer
	fmt.Fprintln(&list, "module,licence,linked by")
	for _, module := range slices.Sorted(maps.Keys(users)) {
		licences := licencesIn(t, folders[module])
		assert.Check(t, len(licences) != 0, "the licence of %s in %s is unknown; read it, and if it may be used, add a phrase of it to this test", module, folders[module])
		fmt.Fprintf(&list, "%s,%s,%s\n", module, strings.Join(licences, " and "), strings.Join(users[module], " and "))
	}
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile("licences.csv", list.Bytes(), 0o600))
	}
	kept, err := os.ReadFile("licences.csv")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(list.String(), string(kept)), "licences.csv is stale; run make licences, read what has changed, and commit it")
}

// modules returns the folders of the modules that a program links on any system for which it is
// released.
func modules(t *testing.T, program string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", program)
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		assert.NilError(t, err, "%s", cmd)
		for line := range strings.Lines(string(out)) {
			if module, folder, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				found[module] = folder
			}
		}
	}
	return found
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying)`)

// licencesIn returns the licences in the files of a module's top folder.
func licencesIn(t *testing.T, folder string) (licences []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		assert.NilError(t, err)
		text := strings.Join(strings.Fields(string(data)), " ")
		for _, p := range phrases {
			if p.text.MatchString(text) {
				licences = append(licences, p.licence)
			}
		}
	}
	slices.Sort(licences)
	licences = slices.Compact(licences)
	if slices.Contains(licences, "BSD-3-Clause") { // it contains the other's text
		licences = slices.DeleteFunc(licences, func(l string) bool { return l == "BSD-2-Clause" })
	}
	return licences
}
