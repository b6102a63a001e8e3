check "made_by_hand" {
  assert {
    condition     = length(mailhost_mailbox_set.staff.unmanaged) == 0
    error_message = "Made by hand: ${join(", ", mailhost_mailbox_set.staff.unmanaged)}"
  }
}
