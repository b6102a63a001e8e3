# By <domain>/<target>, <workspace UUID>/<target>, the target alone for a rule of the
# whole account, or the rule's UUID.
terraform import mailhost_forwarding.office example.com/office@example.com
