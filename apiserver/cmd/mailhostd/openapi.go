package main

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

type openAPICommand struct {
	PublishedOnly bool `help:"Leave out the operations beyond the published ones."`
}

// Run prints the document.
func (c openAPICommand) Run(m Main) error {
	document, err := api.Document(!c.PublishedOnly)
	if err != nil {
		return err
	}
	_, err = m.Stdout.Write(document)
	return err
}
