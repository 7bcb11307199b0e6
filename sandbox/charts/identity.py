"""How the mirror shows that it is the hosts of the charts: an authority of its own, which clients are told to trust.

The authority signs one certificate for all hosts, and its key is forgotten. Both certificates are kept, because who was
told to trust them may run longer than the mirror; they are made anew only if the hosts are others.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from typing import Final

from sandbox.charts import address
from sandbox.checkout import Checkout
from sandbox.kubernetes.certificates import Authority
from sandbox.kubernetes.layout import write

_NAME: Final = "eks-gpu sandbox charts"


def server_context(checkout: Checkout, hosts: Sequence[str]) -> ssl.SSLContext:
    """Return how the mirror speaks TLS as any of ``hosts``."""
    folder = address.folder(checkout)
    certificate, known = folder / "hosts.pem", folder / "hosts"
    wanted = "".join(f"{host}\n" for host in hosts)
    if not known.exists() or known.read_text() != wanted:
        known.unlink(missing_ok=True)
        authority = Authority(_NAME)
        pair = authority.issue(_NAME, hosts)
        write(address.ca_file(checkout), authority.certificate)
        write(certificate, pair.certificate + pair.key)
        # Last: it says that the others are whole.
        write(known, wanted)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate)
    return context
