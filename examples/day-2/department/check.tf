# unmanaged also lists what other sets of the domain and single resources manage: subtract it.
locals {
  made_by_hand = setsubtract(
    mailhost_mailbox_set.staff.unmanaged,
    values(mailhost_mailbox_set.support.addresses), # and [mailhost_mailbox.john.primary_email], if there is one
  )
}

check "made_by_hand" {
  assert {
    condition     = length(local.made_by_hand) == 0
    error_message = "Made by hand: ${join(", ", local.made_by_hand)}"
  }
}
