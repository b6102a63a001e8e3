import {
  to = mailhost_master_password.migration
  identity = {
    id = "5b2e8c1a-3f64-4d07-9c58-6a1d0e7f2b39"
  }
}
