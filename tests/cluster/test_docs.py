"""The cluster files in the documentation are what Ray's launcher reads."""

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs/cluster.md"


def test_the_examples_are_what_rays_launcher_reads() -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'mini-alphago[ray]'")
    import yaml
    from ray.autoscaler._private.util import prepare_config, validate_config

    files = [yaml.safe_load(part.split("```")[0]) for part in DOCS.read_text().split("```yaml\n")[1:]]
    assert [file["provider"]["type"] for file in files] == ["local", "aws"]
    for file in files:
        validate_config(prepare_config(file))
    with pytest.raises(Exception, match="cluster_nam"):
        validate_config(prepare_config({**files[1], "cluster_nam": "go"}))
