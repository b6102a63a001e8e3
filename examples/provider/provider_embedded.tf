# An embedded account in a directory of its own, so that several configurations
# can share it.
provider "mailhost" {
  embedded = {
    data_dir = "${path.root}/account"
  }
}
