# By <domain>/<type>/<name>/<value>, or by id. Omit the value if there is one record of
# that type and name.
terraform import mailhost_dns_record.newsletter_spf example.com/TXT/news
