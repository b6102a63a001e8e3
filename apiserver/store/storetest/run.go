// Package storetest checks that an implementation keeps the guarantees of package store that
// single calls don't show: transactions, snapshots, order and concurrency. The tests of the API
// and package modeltest check the results of the methods, on each engine.
//
// A test of an implementation calls Run with a function that opens an empty store.
//
// Stability: none. The package is exported for other packages of this repository only.
package storetest

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Run checks an implementation. Its tests run in parallel, each on an empty store that
// open returns and closes at the end of the test.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, test := range []struct {
		name string
		run  func(*harness)
	}{
		{"AuthorizationVersion", testAuthorizationVersion},
		{"MailQueueClaims", testMailQueueClaims},
		{"MailQueueConcurrentClaims", testMailQueueConcurrentClaims},
		{"TokenBucketsConcurrently", testTokenBucketsConcurrently},
		{"Clear", testClear},
		{"DeleteAccount", testDeleteAccount},
		{"CreationTimes", testCreationTimes},
		{"WrongClocks", testWrongClocks},
		{"RepairTimes", testRepairTimes},
		{"RepairCancellations", testRepairCancellations},
		{"RepairMostlyFuture", testMostlyFuture},
		{"Snapshot", testSnapshot},
		{"Panic", testPanic},
		{"Context", testContext},
		{"Concurrency", testConcurrency},
		{"Close", testClose},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(&harness{T: t, store: open(t)})
		})
	}
}

// Migrations returns a copy of an engine's migrations, followed by those of a later version.
func Migrations(released fs.FS, later ...string) fstest.MapFS {
	files := fstest.MapFS{}
	names, err := fs.Glob(released, "schema/*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(released, name)
		if err != nil {
			panic(err)
		}
		files[name] = &fstest.MapFile{Data: content}
	}
	for _, text := range later {
		files[fmt.Sprintf("schema/%04d_later.sql", len(files)+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// EachSchema compares the description of each released schema and of the current one with its file, or updates the
// file. describe describes the schema that statements make, in which version migrations are.
func EachSchema(t *testing.T, released fs.FS, describe func(version int, statements string) string) {
	t.Helper()
	described, err := fs.Glob(released, "schema/objects*.txt")
	assert.NilError(t, err)
	for _, file := range described {
		files := Migrations(released)
		names := slices.Sorted(maps.Keys(files))
		version := len(names)
		if file != "schema/objects.txt" {
			_, err := fmt.Sscanf(file, "schema/objects_%04d.txt", &version)
			assert.NilError(t, err, file)
		}
		var statements strings.Builder
		for _, name := range names[:version] {
			fmt.Fprintf(&statements, "%s;\n", files[name].Data)
		}
		golden.Assert(t, describe(version, statements.String()), "../"+file)
	}
}
