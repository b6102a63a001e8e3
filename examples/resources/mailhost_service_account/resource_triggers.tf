# Replaced only when the quarter changes.
resource "mailhost_service_account" "reporting" {
  name = "reporting"

  rotation_triggers = {
    quarter = "2027-Q1"
  }

  lifecycle {
    create_before_destroy = true
  }
}
