"""Writes the pages of the site: those of docs/, a reference from docstrings and headers, and the files that pages link to.

    python docs/site/assemble.py OUT_DIR
"""

import ast
import pathlib
import posixpath
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PYTHON = ROOT / "python" / "deuteron"
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".c": "c", ".py": "python", ".def": "cpp", ".json": "json", ".txt": "cmake"}
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
NO_LINK = re.compile(r"\]\((?=[^)\s]*[\s,])")
"""What messages of exporters have that looks like a link: `call_function[target=f](args = ...)`."""


class Site:
    def __init__(self, out):
        self.out = out
        self.linked = set()

    def write(self, name, text):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page(self, source, name):
        """A page of the repository, its links to what is no page of the site led to pages of the files."""

        def link(match):
            target, anchor = match.group(1), match.group(2) or ""
            if "://" in target:
                return match.group(0)
            file = (source.parent / target).resolve()
            return f"]({posixpath.relpath(self.place(file), posixpath.dirname(name) or '.')}{anchor})"

        parts = re.split(r"(^```.*?^```$)", source.read_text(), flags=re.M | re.S)
        text = "".join(part if part.startswith("```") else LINK.sub(link, NO_LINK.sub(r"]\\(", part)) for part in parts)
        # "cpp body" and "python test" are kinds of the tests.
        self.write(name, re.sub(r"^```(\w+) \w+$", r"```\1", text, flags=re.M))

    def place(self, file):
        """Where a file of the repository is on the site."""
        if file in (DOCS, DOCS / "README.md"):
            return "documentation.md"
        if file.parent == DOCS and file.suffix == ".md":
            return file.name
        if file.is_relative_to(DOCS / "images"):
            return f"images/{file.name}"
        name = file.relative_to(ROOT).as_posix()
        if name == "README.md":
            return "index.md"
        if file.suffix == ".md":
            place = f"files/{name}"
        else:
            place = f"files/{name}.md"
        if place not in self.linked:
            self.linked.add(place)
            self.file(file, name, place)
        return place

    def file(self, file, name, place):
        if file.is_dir():
            entries = [each for each in sorted(file.iterdir()) if each.is_file()]
            links = [f"- [{each.name}]({posixpath.relpath(self.place(each), posixpath.dirname(place))})\n" for each in entries]
            self.write(place, f"# {name}\n\n" + "".join(links))
        elif file.suffix == ".md":
            self.page(file, place)
        else:
            text = file.read_text().rstrip("\n")
            self.write(place, f"# {name}\n\n~~~~{LANGUAGES.get(file.suffix, 'text')}\n{text}\n~~~~\n")


def signature(node):
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"


def documented(nodes):
    """Functions and classes that are public."""
    return [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")]


def quoted(docstring):
    return (docstring or "").strip() + "\n\n"


def python_reference():
    text = "# Python reference\n\nFrom the docstrings of the package. [The guide](../python.md) begins with five minutes of it.\n\n"
    for file in sorted(PYTHON.rglob("*.py")):
        if file.name.startswith("_") and file.name != "__init__.py":
            continue
        module = ".".join(file.relative_to(PYTHON.parent).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(file.read_text())
        text += f"## {module}\n\n" + quoted(ast.get_docstring(tree))
        for node in documented(tree.body):
            if isinstance(node, ast.FunctionDef):
                text += f"### {module}.{node.name}\n\n```python\n{signature(node)}\n```\n\n" + quoted(ast.get_docstring(node))
                continue
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            text += f"### {module}.{node.name}\n\n```python\nclass {node.name}({bases})\n```\n\n" + quoted(ast.get_docstring(node))
            for method in documented(node.body):
                if isinstance(method, ast.FunctionDef):
                    text += f"```python\n{signature(method)}\n```\n\n" + quoted(ast.get_docstring(method))
    return text


def header(name, title):
    """A header whole: its comments are the reference."""
    return f"## {title}\n\n~~~~cpp\n{(ROOT / 'src/deuteron' / name).read_text().rstrip()}\n~~~~\n\n"


def public_headers():
    listing = (ROOT / "cmake/DeuteronHeaders.cmake").read_text()
    return re.findall(r"^  (\S+\.h)$", re.search(r"set\(DEUTERON_PUBLIC_HEADERS(.*?)\)", listing, re.S).group(1), re.M)


def main():
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    site = Site(out)
    for page in sorted(DOCS.glob("*.md")):
        site.page(page, site.place(page))
    site.page(ROOT / "README.md", "index.md")
    site.place(ROOT / "BENCHMARKS.md")
    shutil.copytree(DOCS / "images", out / "images")
    site.write("reference/python.md", python_reference())
    site.write("reference/c.md", "# C reference\n\n[The guide](../c_api.md) has a whole program.\n\n" + header("c_api.h", "deuteron/c_api.h"))
    cpp = "".join(header(name, f"deuteron/{name}") for name in public_headers() if name != "c_api.h")
    site.write("reference/cpp.md", "# C++ reference\n\nThe public headers; each compiles alone.\n\n" + cpp)


if __name__ == "__main__":
    main()
