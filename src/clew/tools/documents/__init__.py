"""Documents as text: pages, PDFs, notebooks, pictures."""
