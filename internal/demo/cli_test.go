package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFindCLI(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	inPath := func(name string) string { return filepath.Join(dir, "path", name) }
	for name, tc := range map[string]struct {
		env   string
		there []string // names of executables
		want  string
		err   string
	}{
		"terraform first":    {there: []string{"tofu", "terraform"}, want: inPath("terraform")},
		"tofu":               {there: []string{"tofu", filepath.Join(bin, "terraform")}, want: inPath("tofu")},
		"installed earlier":  {there: []string{filepath.Join(bin, "terraform")}, want: filepath.Join(bin, "terraform")},
		"none":               {err: "no Terraform or OpenTofu"},
		"named":              {env: "tofu", there: []string{"tofu", "terraform"}, want: inPath("tofu")},
		"named, not there":   {env: "/opt/tofu", there: []string{"terraform"}, err: `TF_CLI names "/opt/tofu"`},
		"named in full":      {env: filepath.Join(dir, "tf"), there: []string{filepath.Join(dir, "tf")}, want: filepath.Join(dir, "tf")},
		"nothing named, bin": {there: []string{"terraform"}, want: inPath("terraform")},
	} {
		t.Run(name, func(t *testing.T) {
			look := func(name string) (string, error) {
				switch {
				case !slices.Contains(tc.there, name):
					return "", errors.New("not found")
				case filepath.IsAbs(name):
					return name, nil
				}
				return inPath(name), nil
			}
			got, err := findCLI(func(string) string { return tc.env }, look, bin)
			if got != tc.want {
				t.Errorf("path is %q, want %q", got, tc.want)
			}
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error is %v, want %q", err, tc.err)
			}
		})
	}
}
