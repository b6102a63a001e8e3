package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// With fakeEnv set, the test binary acts as a CLI that keeps the number of mailboxes in a
// state file, and appends each of its calls to the file that the variable names.
const (
	fakeEnv      = "DEMO_FAKE_CALLS"
	fakeFaultEnv = "DEMO_FAKE_FAULT"
)

func TestMain(m *testing.M) {
	if calls := os.Getenv(fakeEnv); calls != "" {
		os.Exit(fakeCLI(calls, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// call is one call of the fake.
type call struct {
	Args []string
	Dir  string
	Env  []string
}

func (c call) String() string { return strings.Join(c.Args, " ") }

func fakeCLI(calls string, args []string) int {
	dir, _ := os.Getwd()
	line, _ := json.Marshal(call{Args: args, Dir: dir, Env: os.Environ()})
	f, err := os.OpenFile(calls, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 99
	}
	_, _ = fmt.Fprintf(f, "%s\n", line)
	_ = f.Close()

	const state, lock = "terraform.tfstate", ".terraform.lock.hcl"
	_, noState := os.Stat(state)
	fault := os.Getenv(fakeFaultEnv)
	if fault == args[0] {
		fmt.Fprintln(os.Stderr, "Error: "+fault+" is broken")
		return 1
	}
	// A CLI creates its folder in any working directory.
	if home := os.Getenv("HOME"); home != "" {
		_ = os.WriteFile(filepath.Join(home, ".terraformrc.d"), nil, 0o600)
	}
	switch args[0] {
	case "version":
		fmt.Println("Terraform v1.11.4\non linux_amd64")
	case "init":
		if _, err := os.Stat(lock); err == nil {
			fmt.Fprintln(os.Stderr, "Error: the checksum differs from the lock file's")
			return 1
		}
		_ = os.WriteFile(lock, nil, 0o600)
	case "plan":
		if noState != nil || fault == "drift" {
			fmt.Println(strings.Repeat("  + mailhost_mailbox\n", longPlan) + "Plan: 2 to add, 0 to change, 0 to destroy.\n\x1b[33m╷\x1b[0m\n│ Warning: mind the gap\n╵")
			return changesPlanned
		}
		fmt.Println("No changes. Your infrastructure matches the configuration.")
	case "show":
		fmt.Println(`{"resource_changes":[{"mode":"managed","type":"mailhost_mailbox","change":{"actions":["create"]}},` +
			`{"mode":"managed","type":"mailhost_mailbox","change":{"actions":["create"]}}]}`)
	case "apply":
		fmt.Println("mailhost_mailbox.a: Creating...\nmailhost_mailbox.a: Creation complete after 0s\nApply complete! Resources: 2 added, 0 changed, 0 destroyed.\nOutputs:\nsecret = 1")
		_ = os.WriteFile(state, []byte("2"), 0o600)
	case "destroy":
		if fault != "remains" {
			_ = os.WriteFile(state, nil, 0o600)
		}
	case "state":
		if s, _ := os.ReadFile(state); len(s) > 0 {
			fmt.Println("data.mailhost_account.this\n" + `mailhost_mailbox.this["a.b@example.com"]` + "\nmailhost_mailbox.this[\"c\"]")
		}
	case "output":
		fmt.Println("answer = 42")
	}
	return 0
}

// calls returns the calls of the fake since the last time, except version.
func calls(t *testing.T) []call {
	t.Helper()
	path := os.Getenv(fakeEnv)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var out []call
	for line := range strings.Lines(string(text)) {
		var c call
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.Args[0] != "version" {
			out = append(out, c)
		}
	}
	return out
}

// commands returns the first word of each call.
func commands(calls []call) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Args[0])
	}
	return out
}

// files returns the files below a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}
