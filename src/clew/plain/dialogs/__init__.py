"""What a person is asked, line by line; one file each."""
