package main

import "fmt"

// The configurations that are compared. All read the same people.
const (
	readPeople = `
locals {
  people = csvdecode(file("${path.module}/mailboxes.csv"))
}
`
	asSet = readPeople + `
resource "mailhost_mailbox_set" "this" {
  domain    = "example.com"
  mailboxes = { for p in local.people : p.local_part => { first_name = p.first_name, last_name = p.last_name } }
}
`
	asTerraformData = readPeople + `
resource "terraform_data" "this" {
  input = { for p in local.people : p.local_part => { first_name = p.first_name, last_name = p.last_name } }
}
`
	asCount = readPeople + `
resource "mailhost_mailbox" "this" {
  count = length(local.people)

  domain     = "example.com"
  local_part = local.people[count.index].local_part
  first_name = local.people[count.index].first_name
  last_name  = local.people[count.index].last_name
}
`
	asNull = readPeople + `
resource "null_resource" "this" {
  count = length(local.people)

  triggers = { local_part = local.people[count.index].local_part }
}
`

	// The state of a mailbox has about as many bytes as one of these: the CLI copies the
	// states of all instances for each instance, so that their size costs time that no
	// provider can save.
	asLargeNull = readPeople + `
resource "null_resource" "this" {
  count = length(local.people)

  triggers = {
    local_part = local.people[count.index].local_part
    first_name = local.people[count.index].first_name
    last_name  = local.people[count.index].last_name
    padding    = format("%360s", count.index)
  }
}
`

	requireMailhost = `
terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}
`
	embedded = requireMailhost + `
provider "mailhost" {
  embedded = {}
}
`
	requireNull = `
terraform {
  required_providers {
    null = { source = "hashicorp/null" }
  }
}
`
)

// remote returns the provider block for a server at a URL.
func remote(s *server, url string) string {
	return requireMailhost + fmt.Sprintf(`
provider "mailhost" {
  base_url   = %q
  account_id = %q
  token      = %q
}
`, url, s.accountID, s.token)
}

// config returns the files of a configuration with n people.
func config(provider, resources string, n int) map[string]string {
	return map[string]string{"provider.tf": provider, "main.tf": resources, "mailboxes.csv": people(n)}
}
