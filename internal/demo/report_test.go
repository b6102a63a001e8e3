package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	got, err := summarize([]byte(`{"resource_changes": [
		{"mode": "managed", "type": "mailhost_mailbox", "change": {"actions": ["update"]}},
		{"mode": "managed", "type": "mailhost_mailbox", "change": {"actions": ["create"]}},
		{"mode": "managed", "type": "mailhost_mailbox", "change": {"actions": ["create"]}},
		{"mode": "managed", "type": "mailhost_domain", "change": {"actions": ["delete", "create"]}},
		{"mode": "managed", "type": "mailhost_domain", "change": {"actions": ["create", "delete"]}},
		{"mode": "managed", "type": "mailhost_forwarding", "change": {"actions": ["no-op"]}},
		{"mode": "data", "type": "mailhost_account", "change": {"actions": ["read"]}}]}`))
	want := []change{{"mailhost_domain", "replace", 2}, {"mailhost_mailbox", "create", 2}, {"mailhost_mailbox", "update", 1}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("summary is %v (%v), want %v", got, err, want)
	}
	if _, err := summarize([]byte("no JSON")); err == nil {
		t.Error("no error for text that is no JSON")
	}
}

func TestCountTypes(t *testing.T) {
	got := countTypes("data.mailhost_account.this\nmailhost_mailbox.this[\"o'brien@a.example\"]\nmailhost_mailbox.this[\"data.x\"]\nmailhost_dedicated_ip.outbound\n\n")
	if want := []string{"  1  mailhost_dedicated_ip", "  2  mailhost_mailbox"}; !slices.Equal(got, want) {
		t.Errorf("counts are %q, want %q", got, want)
	}
}

func TestLineWriter(t *testing.T) {
	var got []string
	w := &lineWriter{tell: func(line string) { got = append(got, line) }}
	for _, part := range []string{"\x1b[1ma: Crea", "ting...\x1b[0m\n\x1b[3", "3m╷\x1b[0m\nlast"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	w.flush()
	w.flush()
	if want := []string{"a: Creating...", "╷", "last"}; !slices.Equal(got, want) {
		t.Errorf("lines are %q, want %q", got, want)
	}
}

func TestIsOutcome(t *testing.T) {
	for line, want := range map[string]bool{
		"a: Creating...":                                   false,
		"a: Still creating... [10s elapsed]":               false,
		"a: Creation complete after 0s [id=1]":             true,
		"a: Modifications complete after 1m2s [id=1]":      true,
		"Apply complete! Resources: 1 added, 0 changed, 0": true,
		"Destroy complete! Resources: 1 destroyed.":        true,
		"│ Warning: mind the gap":                          true,
		"data.a: Read complete after 0s [id=1]":            false,
		"Outputs:":                                         false,
		"x = 1":                                            false,
	} {
		if got := isOutcome(line); got != want {
			t.Errorf("isOutcome(%q) = %v", line, got)
		}
	}
}

func TestIndent(t *testing.T) {
	if got, want := indent("\na\n\n  b\n\n"), "   a\n\n     b\n"; got != want {
		t.Errorf("indented text is %q, want %q", got, want)
	}
}

func TestInstallProvider(t *testing.T) {
	mirror := filepath.Join(t.TempDir(), "mirror")
	for _, content := range []string{"old", "new"} {
		build := func(_ context.Context, path string) error { return os.WriteFile(path, []byte(content), 0o755) }
		if err := installProvider(t.Context(), build, mirror, "0.1.0"); err != nil {
			t.Fatal(err)
		}
	}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		path := filepath.Join(mirror, host, "mailhost", "mailhost", "0.1.0", platform, "terraform-provider-mailhost_v0.1.0")
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%s can't be run", path)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
			t.Errorf("%s is %q (%v), want the new build", path, b, err)
		}
	}
}

func TestCLIConfig(t *testing.T) {
	got := cliConfig(filepath.FromSlash(`/home/jane "j" doe/mirror`))
	if !strings.Contains(got, `path = "/home/jane \"j\" doe/mirror"`) {
		t.Errorf("the path is not quoted:\n%s", got)
	}
	if strings.Contains(got, "direct") || strings.Contains(got, "network_mirror") {
		t.Errorf("providers could come from the network:\n%s", got)
	}
}
