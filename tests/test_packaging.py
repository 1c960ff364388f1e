"""The house keeps its order: layers, what importing costs, and what a wheel puts into site-packages."""

import ast
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A line imports only lines above it; DESIGN calls this the house.
LAYERS = (
    "errors interval columns"
    " dates.calendar_words dates.tokens dates.readings dates.rules dates.scanning dates.context timex"
    " questions.wording questions.implicit questions.asked questions.meant questions.periods questions.anchors question"
    " spline text names keywords bm25 corpus strategies ranking settings stages"
    " answers.quoting prompts questions.claims decompose"
    " evaluation.token_runs evaluation.bootstrap metrics"
    " answers.replies answers.stated answers.support summarize pipeline answers.timeline answers.self_mrag reader"
    " contrast.facts contrast.proof contrast.first_last contrast.phrasing contrast.alternatives contrast.rewording"
    " perturb evaluation.agreement"
).split()
# mrag/__init__.py and mrag/cli/ are the outermost layer, and may reach adapters and click.
ADAPTERS = {path.stem for path in (ROOT / "adapters").rglob("*") if path.suffix in ("", ".py")} - {"__pycache__"}
ROOMS = {"mrag", *(f"mrag.{path.parent.name}" for path in (ROOT / "mrag").glob("*/__init__.py"))}

ALLOWED_INSIDE_FUNCTIONS = {"nltk": {"text"}}
WORLD = (  # what a core without I/O, clock, chance and processes has no use for
    "asyncio ctypes datetime ftplib glob http io logging marshal multiprocessing os pathlib pickle random secrets"
    " shelve shutil signal socket sqlite3 subprocess tempfile threading time urllib uuid"
).split()
EFFECTS = {"eval", "exec", "open", "print", "input", "compile", "__import__", "globals", "breakpoint"}


def core_files() -> list[Path]:
    files = (ROOT / "mrag").rglob("*.py")
    return sorted(path for path in files if path.stem != "__init__" and "cli" not in path.parts)


def layer(module: str) -> str:
    """The place in LAYERS of a module of the core, by its name below mrag; the prompts share one."""
    return "prompts" if module.startswith("prompts.") else module


def name_of(path: Path) -> str:
    return layer(".".join(path.relative_to(ROOT / "mrag").with_suffix("").parts))


def imports(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Every imported module by its full name, and whether that happens at the module's top."""
    top = {id(node) for node in ast.iter_child_nodes(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write the import in full"
            if node.module in ROOMS:
                yield from ((f"{node.module}.{alias.name}", id(node) in top) for alias in node.names)
            else:
                yield node.module or "", id(node) in top


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/").stdout


@pytest.mark.parametrize("path", core_files(), ids=name_of)
def test_a_core_module_imports_only_layers_above_it(path: Path) -> None:
    own = name_of(path)
    assert own in LAYERS, f"mrag.{own} has no place in LAYERS ({__file__}): say which layer it is"
    above = LAYERS[: LAYERS.index(own)]
    inner = {layer(name.split(".", 1)[1]) for name, _ in imports(parsed(path)) if name.startswith("mrag.")}
    assert inner <= set(above), f"mrag.{own} may not import {sorted(inner - set(above))}"


@pytest.mark.parametrize("path", core_files(), ids=name_of)
def test_a_core_module_takes_only_numpy_from_outside(path: Path) -> None:
    for name, at_top in imports(parsed(path)):
        package = name.split(".")[0]
        if package in {"numpy", "mrag"} or package in sys.stdlib_module_names:
            continue
        own = name_of(path)
        assert own in ALLOWED_INSIDE_FUNCTIONS.get(package, ()), f"mrag.{own} may not import {package}"
        assert not at_top, f"mrag.{own}: import {package} inside the function that needs it"


@pytest.mark.parametrize("path", core_files(), ids=name_of)
def test_a_core_module_has_no_effects_and_no_clock(path: Path) -> None:
    tree = parsed(path)
    assert not {name.split(".")[0] for name, _ in imports(tree)} & set(WORLD)
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & EFFECTS


@pytest.mark.parametrize("path", sorted((ROOT / "adapters").rglob("*.py")), ids=lambda path: path.stem)
def test_an_adapter_imports_libraries_where_it_uses_them(path: Path) -> None:
    for name, at_top in imports(parsed(path)):
        package = name.split(".")[0]
        assert package not in ADAPTERS, f"adapters/{path.name}: write mrag.adapters.{package}"
        assert not name.startswith(("mrag.cli", "click")), f"adapters/{path.name} may not know the command line"
        if at_top:
            assert package in {"numpy", "mrag"} or package in sys.stdlib_module_names, (
                f"{path.name}: {package} at its top"
            )


def test_importing_mrag_loads_no_library() -> None:
    heavy = "onnxruntime nltk click requests tokenizers hnswlib dateutil numpy mrag.adapters".split()
    loaded = run_python(f"import sys, mrag; print([name for name in {heavy} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_parsing_a_question_loads_no_model_library() -> None:
    heavy = "onnxruntime nltk click requests tokenizers hnswlib".split()
    code = f"import sys, mrag; mrag.parse('who won in 1999?'); print([name for name in {heavy} if name in sys.modules])"
    assert run_python(code).strip() == "[]"


def test_every_public_name_is_there() -> None:
    import mrag

    for name in mrag.__all__:
        assert getattr(mrag, name) is not None
    assert set(mrag.__all__) <= set(dir(mrag))
    with pytest.raises(AttributeError, match="no attribute 'prase'"):
        _ = mrag.prase


def check_wheel(wheel: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, ".ci/wheel.py", str(wheel)], cwd=ROOT, capture_output=True, text=True)


def test_a_wheel_holds_mrag_and_nothing_else(tmp_path: Path) -> None:
    source = tmp_path / "source"  # a copy: building leaves a build/ folder behind
    for name in ("mrag", "adapters", "export"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(source)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    checked = check_wheel(next(tmp_path.glob("*.whl")))
    assert checked.returncode == 0, checked.stderr


def test_the_wheel_check_sees_foreign_and_missing_files(tmp_path: Path) -> None:
    wheel = tmp_path / "mrag-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tests/test_cli.py", "")
        archive.writestr("mrag-0.dist-info/METADATA", "")
    checked = check_wheel(wheel)
    assert checked.returncode == 1
    assert "into site-packages: tests" in checked.stderr
    assert "mrag/adapters/__init__.py" in checked.stderr
