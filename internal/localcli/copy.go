package localcli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CopyConfig copies a configuration and the folders below it, without what a CLI
// keeps beside them: hidden files, and states.
func CopyConfig(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		kept := rel != "." && (strings.HasPrefix(e.Name(), ".") || strings.Contains(e.Name(), ".tfstate"))
		switch {
		case e.IsDir() && kept:
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case kept || !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return copyFile(filepath.Join(to, rel), path, 0o600|info.Mode()&0o100) // a script stays one
	})
}

func copyFile(to, from string, mode os.FileMode) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, mode)
}
