"""`benchmarks.same_models` finds a change of one estimator, and no other."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_a_changed_default_is_found(tmp_path: Path) -> None:
    changed = tmp_path / "src" / "suffice"
    shutil.copytree(ROOT / "src" / "suffice", changed, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "src" / "native", tmp_path / "src" / "native")
    with (changed / "naive_bayes" / "__init__.py").open("a") as file:
        file.write("\nMultinomialNB.__init__.__kwdefaults__['alpha'] = 0.5\n")
    command = [sys.executable, "-m", "benchmarks.same_models", str(tmp_path), "--table", "words"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    *found, last = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr
    assert [line.partition(":")[0] for line in found] == ["MultinomialNB of words"]
    assert "feature_log_prob_ (" in found[0]
    assert last.endswith("1 fits differ")
