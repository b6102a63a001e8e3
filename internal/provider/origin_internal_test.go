package provider

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOrigin checks what distinguishes the states of two working directories.
func TestOrigin(t *testing.T) {
	const remote = `{"backend":{"type":"s3","config":{"bucket":"b","key":"%s"}}}`
	dirs := map[string]string{"one": t.TempDir(), "other": t.TempDir()}
	origin := func(dir string, env map[string]string, backend, workspace string) string {
		t.Helper()
		t.Chdir(dirs[dir])
		if err := os.RemoveAll(".terraform"); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"terraform.tfstate": backend, "environment": workspace} {
			if text == "" {
				continue
			}
			if err := os.MkdirAll(".terraform", 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(".terraform", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o, err := newOrigin(func(name string) string { return env[name] })
		if err != nil || o.Run == "" {
			t.Fatalf("%+v: %v", o, err)
		}
		return o.ID
	}
	local := origin("one", nil, "", "")
	s3 := origin("one", nil, remote, "")
	for name, tt := range map[string]struct {
		got, want string
		same      bool
	}{
		"the same directory":               {origin("one", nil, "", ""), local, true},
		"the default workspace by name":    {origin("one", nil, "", "default"), local, true},
		"a local backend":                  {origin("one", nil, `{"backend":{"type":"local","config":{"path":"x"}}}`, ""), local, false},
		"another workspace":                {origin("one", nil, "", "prod"), local, false},
		"another workspace by environment": {origin("one", map[string]string{"TF_WORKSPACE": "prod"}, "", ""), origin("one", nil, "", "prod"), true},
		"another directory":                {origin("other", nil, "", ""), local, false},
		"a remote backend":                 {s3, local, false},
		"it in another directory":          {origin("other", nil, remote, ""), s3, true},
		"another key in it":                {origin("one", nil, `{"backend":{"type":"s3","config":{"bucket":"b","key":"other"}}}`, ""), s3, false},
		"another workspace in it":          {origin("one", nil, remote, "prod"), s3, false},
	} {
		if (tt.got == tt.want) != tt.same {
			t.Errorf("%s: same origin %t, want %t", name, tt.got == tt.want, tt.same)
		}
	}
	t.Chdir(dirs["one"])
	if err := os.WriteFile(filepath.Join(".terraform", "terraform.tfstate"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newOrigin(func(string) string { return "" }); err == nil {
		t.Error("a damaged file has an origin")
	}
}

func TestPartialCommand(t *testing.T) {
	for argument, want := range map[string]bool{
		"-target=mailhost_mailbox.a": true, "--target": true, "-exclude=x": true, "-exclude-file": true, "-target-file": true, `"-target=x"`: true,
		"apply": false, "-auto-approve": false, "target": false, "": false, "-var=target=x": false,
	} {
		if got := isPartialCommand([]string{"terraform", "plan", argument}, nil); got != want {
			t.Errorf("%q: partial %t", argument, got)
		}
		if got := isPartialCommand([]string{"terraform", "plan"}, []string{"X=-target", "TF_CLI_ARGS_plan=-no-color " + argument}); got != want {
			t.Errorf("%q in the environment: partial %t", argument, got)
		}
	}
	if isPartial(nil) {
		t.Error("the test's own parent has targets, or its arguments can't be read")
	}
}
