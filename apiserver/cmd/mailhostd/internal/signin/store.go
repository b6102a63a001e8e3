package signin

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/oauth2"
)

// Store stores tokens in a file that only its owner can read.
type Store struct {
	// Path is the file. Save creates its folder.
	Path string
}

// key identifies a client in the file.
func key(c Client) string {
	text, _ := json.Marshal(c) // c contains only strings, so there is no error
	return string(text)
}

// Load returns the stored token of a client, or nil.
func (s Store) Load(c Client) (*oauth2.Token, error) {
	all, err := s.read()
	return all[key(c)], err
}

// Clear removes every token.
func (s Store) Clear() error {
	if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// read returns no tokens for a file that it can't decode: the person then signs in again.
func (s Store) read() (all map[string]*oauth2.Token, err error) {
	text, err := os.ReadFile(s.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if json.Unmarshal(text, &all) != nil || all == nil {
		all = map[string]*oauth2.Token{}
	}
	return all, nil
}

// Save stores a token for a client, in place of an earlier one. It replaces the file, so that no reader
// sees a partial file.
func (s Store) Save(c Client, token *oauth2.Token) error {
	all, err := s.read()
	if err != nil {
		return err
	}
	all[key(c)] = token
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
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
