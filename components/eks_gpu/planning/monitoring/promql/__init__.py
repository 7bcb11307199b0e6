"""Reading PromQL: enough of the language to know which series a query reads, and what it does with them."""

from __future__ import annotations
