"""TLS with the system's certificates, for everything that speaks HTTP."""

import ssl
from functools import cache


@cache
def tls_context() -> ssl.SSLContext:
    """The system's certificates (SSL_CERT_FILE and SSL_CERT_DIR are honoured), made once: loading them is slow."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
