package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/oauth2"
)

// Store keeps tokens in a file that only its owner can read.
type Store struct {
	// Path is the file. Its folder is created.
	Path string
}

type entry struct {
	Client
	Token *oauth2.Token `json:"token"`
}

func (e entry) is(c Client) bool {
	return e.API == c.API && e.Issuer == c.Issuer && e.ID == c.ID && slices.Equal(e.Scopes, c.Scopes) && maps.Equal(e.Parameters, c.Parameters)
}

func (s Store) Load(c Client) (*oauth2.Token, error) {
	all, err := s.read()
	for _, e := range all {
		if e.is(c) {
			return e.Token, err
		}
	}
	return nil, err
}

// Save keeps a token for a client, in place of an earlier one.
func (s Store) Save(c Client, token *oauth2.Token) error {
	all, err := s.read()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return e.is(c) })
	return s.write(append(all, entry{c, token}))
}

// Clear removes every token.
func (s Store) Clear() error {
	if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s Store) read() ([]entry, error) {
	text, err := os.ReadFile(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []entry
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s can't be read; remove it with mailhostd logout, and sign in again: %w", s.Path, err)
	}
	return all, nil
}

// write replaces the file, so that no reader sees a part of it.
func (s Store) write(all []entry) error {
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(s.Path), ".tokens-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), s.Path)
}
