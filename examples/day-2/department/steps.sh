# Two lines move to support.csv, and with them the mailboxes, to a set of their own. They stay as they are.
cp "$recipe"/*.csv "$recipe"/*.tf .
terraform apply # prints: 1 added, 1 changed, 0 destroyed
! terraform plan | grep "Made by hand"
# One line moves back.
cp "$recipe"/later/*.csv .
terraform apply # prints: 0 added, 2 changed, 0 destroyed
mailhostd call create-mailbox domain=example.com local_part=info first_name=Front last_name=Office
terraform plan # prints: Made by hand: info@example.com
mailhostd call delete-mailbox mailbox=info@example.com
