package storetest

import (
	"fmt"
	"io/fs"
	"testing/fstest"
)

// Migrations returns a copy of an engine's migrations, and those that a later version adds.
func Migrations(released fs.FS, later ...string) fstest.MapFS {
	files := fstest.MapFS{}
	names, err := fs.Glob(released, "*.sql")
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
		files[fmt.Sprintf("%04d_later.sql", len(files)+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}
