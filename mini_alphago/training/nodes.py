"""The nodes of a run that plays on a cluster: what the metrics of an iteration say of them, in few words."""

from ..plot import number_text
from .report import Metrics, number, workers_of

MOST_NODES = 6  # named in one row; of more it is said how many


def node_rates(metrics: Metrics) -> dict[str, float]:
    """Positions a second of each node, its workers together, in the order of the list; unknown rates add nothing."""
    rates: dict[str, float] = {}
    for worker in workers_of(metrics) or []:
        node = str(worker.get("node") or "?")
        rates[node] = rates.get(node, 0.0) + (number(worker, "positions_per_second") or 0.0)
    return rates


def nodes_text(metrics: Metrics) -> str:
    """`10.0.0.5: 812/s  10.0.0.6: 790/s  and 3 more`; `none` if all are gone, empty if the run has none."""
    rates = node_rates(metrics)
    words = [f"{node}: {number_text(rate)}/s" for node, rate in list(rates.items())[:MOST_NODES]]
    if len(rates) > MOST_NODES:
        words.append(f"and {len(rates) - MOST_NODES} more")
    return "  ".join(words) if words or workers_of(metrics) is None else "none"


def workers_text(metrics: Metrics) -> str:
    """`3 workers`, and empty if the run has no workers elsewhere."""
    workers = workers_of(metrics)
    return "" if workers is None else f"{len(workers):,} worker" + "s" * (len(workers) != 1)
