"""What says that a configuration is wrong: workflow files, commands to the runner, YAML, TOML, JSON, the shell."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

CLASS = FailureClass.CONFIGURATION
WORKFLOW = Words("workflow file", CLASS)
COMMAND = Words("workflow command", CLASS)
SETUP = Words("setup action", CLASS)
YAML = Words("yaml", CLASS)
TOML = Words("toml", CLASS)
JSON = Words("json", CLASS)
SHELL = Words("shell", CLASS)
GIT = Words("git", CLASS)
CMAKE_LISTS = Words("cmake presets", CLASS)
TOOL = Words("settings of a tool", CLASS)
LINT = FailureClass.LINT
YAMLLINT = Words("yamllint", LINT)
ACTIONLINT = Words("actionlint", LINT)
MARKDOWNLINT = Words("markdownlint", LINT)
SHELLCHECK = Words("shellcheck", LINT)
HADOLINT = Words("hadolint", LINT)

INVALID = "the workflow file is not valid"
BROKEN = "a rule is broken"
UNREADABLE = "a file of settings cannot be read"

ROWS = (
    WORKFLOW.last_word(
        r"(?P<message>Invalid workflow file|The workflow is not valid\.|"
        r"The template is not valid\.)",
        INVALID,
    ),
    WORKFLOW.last_word(r"(?P<message>Unrecognized (?:named-value|function): '.{1,80}')", INVALID),
    WORKFLOW.last_word(
        r"(?P<message>Can't find 'action\.yml', 'action\.yaml' or 'Dockerfile')",
        "an action is not where it is looked for",
    ),
    WORKFLOW.last_word(
        r"(?P<message>Unable to resolve action `?[^`,]{1,200}`?,? (?:unable to find version|"
        r"repository not found|action not found)?)",
        "an action or its version is not there",
    ),
    WORKFLOW.last_word(
        r"(?P<message>This request has been automatically failed because it uses a deprecated version of)",
        "an action is too old",
    ),
    WORKFLOW.error(r"^(?:Error: )?(?P<message>Input required and not supplied: \S+)", "an action lacks an input"),
    WORKFLOW.hint(
        r"^(?P<message>Unexpected input\(s\) '.{1,200}', valid inputs are)",
        "an action is given an input it does not know",
    ),
    WORKFLOW.error(r"(?P<message>No files were found with the provided path: .*)", "there was nothing to upload"),
    WORKFLOW.error(
        r"^(?:Error: )?(?P<message>Unable to download artifact\(s\): Artifact not found.*)", "an artefact is not there"
    ),
    COMMAND.last_word(
        r"(?P<message>Unable to process (?:file )?command '.{1,200}' successfully)", "a command to the runner is wrong"
    ),
    COMMAND.error(r"^(?:Error: )?(?P<message>Invalid format '.{1,300}')", "a command to the runner is wrong"),
    COMMAND.error(
        r"(?P<message>The `(?:set-env|add-path|set-output|save-state)` command is "
        r"(?:deprecated and will be )?disabled)",
        "a command to the runner is no longer allowed",
    ),
    SETUP.last_word(
        r"(?P<message>The version '.{1,60}' with architecture '.{1,20}' was not found)", "a version is not offered"
    ),
    SETUP.error(r"^(?:Error: )?(?P<message>Unable to find (?:Node )?[Vv]ersion .{1,200})", "a version is not offered"),
    SETUP.error(
        r"^(?:Error: )?(?P<message>(?:Dependencies lock file is not found in|"
        r"No file in \S{1,300} matched to|Some specified paths were not resolved).*)",
        "a file that a setup looks for is not there",
    ),
    YAML.error(
        r"(?P<message>yaml\.(?:scanner\.ScannerError|parser\.ParserError|constructor\.ConstructorError|"
        r"composer\.ComposerError))",
        UNREADABLE,
    ),
    YAML.error(
        r"(?P<message>YAMLException: .{1,200}|YAMLSyntaxError|yaml: (?:line \d{1,6}|unmarshal errors|"
        r"mapping values).{0,200})",
        UNREADABLE,
    ),
    YAML.error(
        r"^ {0,4}(?P<message>(?:mapping values are not allowed here|could not find expected ':'|"
        r"found character '.{1,4}' that cannot start any token).*)",
        UNREADABLE,
    ),
    TOML.error(
        r"(?P<message>(?:tomllib|tomli|toml(?:\.decoder)?)\.(?:_parser\.)?T(?:OML|"
        r"oml)DecodeError: .{0,200}|TOMLDecodeError: .{0,200}|TOML parse error at line \d+)",
        UNREADABLE,
    ),
    TOML.error(
        r"^(?:error: )?(?P<message>failed to parse manifest at `.*|Failed to parse: `?pyproject\.toml.*|"
        r"Invalid TOML file .*)",
        UNREADABLE,
    ),
    JSON.error(
        r"(?P<message>json\.decoder\.JSONDecodeError: .{0,200}|EJSONPARSE|"
        r"Unexpected token .{1,40} in JSON at position|Error parsing package\.json)",
        UNREADABLE,
    ),
    TOOL.error(
        r"^(?P<message>(?:ruff failed|Oops! Something went wrong! :\(|ESLint couldn't find (?:an|"
        r"the) .{0,40}config.*|Validation Error:|Configuration error: .*))",
        "the settings of a tool are wrong",
    ),
    TOOL.error(
        r"^(?:error: )?(?P<message>(?:Invalid (?:config|configuration)(?: file)?:? .*|Unknown option .*|"
        r"unrecognized arguments: .*|No such option: .*|Failed to load config .*))",
        "a tool is called or set up wrongly",
    ),
    TOOL.error(
        r"^(?:usage|Error): (?P<message>(?:unknown (?:flag|command|shorthand flag|subcommand)|"
        r"flag provided but not defined|accepts \d+ arg).*)",
        "a tool is called wrongly",
    ),
    SHELL.error(
        r"^(?P<message>(?:\S{1,200}: )(?:line \d{1,6}: )?(?:\d{1,4}: )?\S{1,200}: "
        r"(?:command )?not found)$",
        "a command is not there",
    ),
    SHELL.error(
        r"^(?P<message>\S{1,200}: line \d{1,6}: .{0,120}(?:Permission denied|No such file or directory|"
        r"[Ss]yntax error.{0,120}|unbound variable|bad substitution))",
        "a script is wrong",
    ),
    SHELL.error(r"^(?P<message>.{1,200} : The term '.{1,120}' is not recognized as)", "a command is not there"),
    SHELL.error(
        r"^(?P<message>'.{1,120}' is not recognized as an internal or external command)", "a command is not there"
    ),
    SHELL.error(
        r"^(?P<message>sh: \d{1,4}: \S{1,120}: not found|env: .{1,120}: No such file or directory|"
        r"/usr/bin/env: .{1,120}: No such file or directory)",
        "a command is not there",
    ),
    SHELL.hint(
        r"^(?P<message>(?:cat|cp|mv|cd|ls|chmod|tar|source|bash|sh|python3?|node): .{1,300}: "
        r"(?:No such file or directory|Permission denied|Cannot open).*)",
        "a file is not there",
    ),
    GIT.error(
        r"^(?P<message>fatal: (?:couldn't find remote ref|not a git repository|detected dubious ownership|"
        r"ambiguous argument|no url found for submodule|[Rr]emote branch .{1,120} not found|"
        r"No url found).*)",
        "git is asked for what is not there",
    ),
    CMAKE_LISTS.error(
        r"^(?P<message>CMake Error: (?:Could not read presets|The source directory .*))", "cmake is called wrongly"
    ),
    YAMLLINT.error(r"^ {2}(?P<line>\d+):\d+ {2,8}error {2,6}(?P<message>.+?) {2}\((?P<code>[a-z-]{1,40})\)$", BROKEN),
    YAMLLINT.error(r"^(?P<file>[^\s:]+\.ya?ml):(?P<line>\d+):\d+: \[error\] (?P<message>.+)", BROKEN),
    ACTIONLINT.error(
        r"^(?P<file>\.github/[^\s:]+\.ya?ml):(?P<line>\d+):\d+: (?P<message>.+) \["
        r"(?P<code>[a-z-]+)\]$",
        BROKEN,
    ),
    MARKDOWNLINT.error(
        r"^(?P<file>[^\s:]+\.(?:md|mdx)):(?P<line>\d+)(?::\d+)? (?:error )?(?P<code>MD\d{3})/\S+ "
        r"(?P<message>.*)",
        BROKEN,
    ),
    SHELLCHECK.error(r"^In (?P<file>\S+) line (?P<line>\d+):$", BROKEN),
    SHELLCHECK.error(
        r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:error|warning|note): (?P<message>.+) \["
        r"(?P<code>SC\d{4})\]$",
        BROKEN,
    ),
    HADOLINT.error(
        r"^(?P<file>[^\s:]*Dockerfile[^\s:]*):(?P<line>\d+) (?P<code>(?:DL|SC)\d{4}) \S{1,12}: "
        r"(?P<message>.*)",
        BROKEN,
    ),
)
