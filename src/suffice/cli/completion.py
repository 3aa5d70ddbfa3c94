"""Shell completion: a script that knows every command and option, and starts no Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suffice.errors import ParameterError

BASH = """\
_suffice() {{
  local words current=${{COMP_WORDS[COMP_CWORD]}}
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  [ "$COMP_CWORD" = 1 ] && words="{commands}"
  COMPREPLY=()
  case $COMP_CWORD:$current in
    1:*|*:-*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}}
complete -o default -F _suffice suffice
"""
SHELLS = ("bash", "zsh", "fish")


def script(shell: str, group: Any) -> str:
    """Return the script that completes the names of commands and options of the program."""
    if shell not in SHELLS:
        known = f"there are scripts for {', '.join(SHELLS)}"
        raise ParameterError(f"--completion {shell}", known)
    options = {name: list(_options(group.get_command(None, name))) for name in group.commands}
    if shell == "fish":
        return "\n".join([*_lines_of_fish(options), ""])
    cases = (f'    {name}) words="{" ".join(own)}" ;;' for name, own in options.items())
    found = BASH.format(cases="\n".join(cases), commands=" ".join(options))
    return found if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{found}"


def _options(command: Any) -> Iterator[str]:
    for one in command.params:
        if one.param_type_name == "option" and not one.hidden:
            yield from (name for name in (*one.opts, *one.secondary_opts) if name[:2] == "--")


def _lines_of_fish(options: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f'complete -c suffice -n __fish_use_subcommand -f -a "{" ".join(options)}"'
    for name, own in options.items():
        seen = f'"__fish_seen_subcommand_from {name}"'
        yield from (f"complete -c suffice -n {seen} -l {option[2:]}" for option in own)
