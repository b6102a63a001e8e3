package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// OpenOptions say what a store is opened for.
type OpenOptions struct {
	// ReadOnly says that the store is there already, and is neither migrated nor
	// written to.
	ReadOnly bool
}

// Opener opens the store that a --database names.
type Opener func(ctx context.Context, database string, o OpenOptions) (store.Store, error)

// Openers are openers by the scheme of a URL; that of the empty scheme takes a
// file path.
type Openers map[string]Opener

// openers returns the engines of this build.
func openers() Openers {
	return Openers{
		"": func(ctx context.Context, path string, o OpenOptions) (store.Store, error) {
			return sqlite.Open(ctx, path, sqlite.Options{ReadOnly: o.ReadOnly})
		},
	}
}

// scheme returns the scheme of a database's URL, or nothing for a file path.
func scheme(database string) string {
	scheme, _, ok := strings.Cut(database, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

// describe returns what may be told of a database: a URL may hold a password.
func describe(database string) string {
	if s := scheme(database); s != "" {
		return s + "://…"
	}
	return database
}

func (o Openers) open(ctx context.Context, database string) (store.Store, error) {
	return o.openWith(ctx, database, OpenOptions{})
}

func (o Openers) openWith(ctx context.Context, database string, options OpenOptions) (store.Store, error) {
	s := scheme(database)
	opener, ok := o[s]
	if !ok {
		return nil, fmt.Errorf("--database: this build can't open %s://; it takes %s", s, o.inWords())
	}
	db, err := opener(ctx, database, options)
	if err != nil {
		return nil, fmt.Errorf("the database can't be opened: %w", err)
	}
	return db, nil
}

// inWords says what a --database can be.
func (o Openers) inWords() string {
	words := []string{"the path of an SQLite file"}
	for _, s := range slices.Sorted(maps.Keys(o)) {
		if s != "" {
			words = append(words, "a "+s+":// URL")
		}
	}
	return strings.Join(words, " or ")
}
