"""A certificate of our own making, once per session: making one takes longer than most tests."""

import ssl
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Certificate and key for localhost and api.example.org, signed by nobody else."""
    folder = tmp_path_factory.mktemp("tls")
    chain, key = folder / "c.pem", folder / "k.pem"
    names = "subjectAltName=DNS:localhost,DNS:api.example.org"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    try:
        subprocess.run([*command, "-addext", names, "-out", chain, "-keyout", key], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("makes a certificate with the openssl program, which is not installed")
    return chain, key


@pytest.fixture
def self_signed(certificate: tuple[Path, Path]) -> tuple[ssl.SSLContext, Path]:
    """A server context with that certificate, and the file a client would have to trust."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context, certificate[0]
