# An embedded account in another directory, for instance to share it between
# configurations.
provider "mailhost" {
  embedded = {
    data_dir = "${path.root}/account"
  }
}
