"""Import contract: packages import each other only through the names that they list.

`gazelive/<package>/__init__.pyi` lists the public names of a package. Another package imports
`from gazelive.<package> import name`, never from the modules behind it. `make lint` checks this
with import-linter; pyproject.toml names the few modules that are public themselves.
"""

from __future__ import annotations

from typing import Any

from importlinter import Contract, ContractCheck, fields, output


class PackageSurface(Contract):
    """Forbids imports from inside another top-level package."""

    public_modules = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: Any, verbose: bool) -> ContractCheck:
        """Return the imports that reach behind a package's surface."""
        public = self.public_modules or set()
        found = [
            f"{module} -> {imported}"
            for module in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if _is_inside_another(module, imported) and imported not in public
        ]
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports."""
        for line in check.metadata["found"]:
            output.print_error(line)
        output.new_line()
        output.print("List the name in the package's __init__.pyi and import it from the package.")


def _is_inside_another(module: str, imported: str) -> bool:
    root, package, *inside = imported.split(".") + [""] * (2 - imported.count(".") - 1)
    return root == "gazelive" and bool(inside) and module.split(".")[1:2] != [package]
