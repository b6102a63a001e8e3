# By <domain>/<type>/<name>/<value>, or by id. Where there is one record of that type
# and name, the value may be left out.
terraform import mailhost_dns_record.newsletter_spf example.com/TXT/news
