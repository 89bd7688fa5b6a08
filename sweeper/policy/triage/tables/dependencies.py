"""What package managers say when what the repository asks for cannot be had. A registry out of reach is not that."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

CLASS = FailureClass.DEPENDENCY
PIP = Words("pip", CLASS)
UV = Words("uv", CLASS)
POETRY = Words("poetry", CLASS)
CONDA = Words("conda", CLASS)
NPM = Words("npm", CLASS)
YARN = Words("yarn", CLASS)
PNPM = Words("pnpm", CLASS)
CARGO = Words("cargo", CLASS)
GO = Words("go modules", CLASS)
MAVEN = Words("maven", CLASS)
GRADLE = Words("gradle", CLASS)
BUNDLER = Words("bundler", CLASS)
COMPOSER = Words("composer", CLASS)
APT = Words("apt", CLASS)
PYTHON = Words("python", CLASS)
NODE = Words("node", CLASS)

ABSENT = "no such version is offered"
CLASH = "versions exclude each other"
STALE = "the lock file does not fit"
UNBUILT = "a package cannot be built"
MISSING = "a module is not installed"
FETCHED = r"(?!.{0,900}Could not transfer)"
"""Maven names the trouble of the network in the same line."""

ROWS = (
    PIP.error(r"^(?:ERROR: )(?P<message>Could not find a version that satisfies the requirement \S+)", ABSENT),
    PIP.error(r"^(?:ERROR: )(?P<message>No matching distribution found for .*)", ABSENT),
    PIP.last_word(r"^(?:ERROR: )(?P<message>ResolutionImpossible: .*)", CLASH),
    PIP.error(
        r"^(?:ERROR: )(?P<message>Cannot install .{1,600} because these package versions have conflicting)", CLASH
    ),
    PIP.error(
        r"^ERROR: (?P<message>Package '.{1,120}' requires a different Python: .*)", "this Python is not supported"
    ),
    PIP.error(r"^ERROR: (?P<message>Could not open requirements file: .*)", "a requirements file is not there"),
    PIP.error(r"^ERROR: (?P<message>Invalid requirement: .*)", "a requirement is not written rightly"),
    PIP.error(
        r"^ERROR: (?P<message>THESE PACKAGES DO NOT MATCH THE HASHES|Hashes are required).*", "hashes do not fit"
    ),
    PIP.last_word(r"^ {0,4}(?:ERROR: )?(?P<message>Failed building wheel for \S+)", UNBUILT),
    PIP.last_word(
        r"^(?:ERROR: )?(?P<message>Failed to build (?:installable wheels|one or more wheels|\S+$).*)", UNBUILT
    ),
    PIP.error(
        r"^ {0,4}(?:error: |\u00d7 |ERROR: )(?P<message>(?:subprocess-exited-with-error|metadata-generation-failed))",
        UNBUILT,
    ),
    PIP.error(r"^ {4,12}(?P<message>CMake Error at \S+)", "cmake stopped while a package was built"),
    PIP.error(r"^ {4,12}(?:[^\s:]+:\d+:\d+: )(?P<message>(?:fatal )?error: .*)", "a package's code does not compile"),
    PIP.hint(r"^ {0,8}error: (?P<message>command '.{1,300}' failed with exit (?:code|status) \d+)", UNBUILT),
    UV.last_word(r"^ {0,4}(?:\u00d7 |error: )(?P<message>No solution found when resolving dependencies.*)", CLASH),
    UV.error(r"^ {0,4}(?:\u2570\u2500\u25b6|hint:) (?P<message>Because .*)", CLASH),
    UV.error(r"^ {0,4}(?:\u00d7 |error: )(?P<message>Failed to build `.*)", UNBUILT),
    UV.error(r"^error: (?P<message>The lockfile at `uv\.lock` needs to be updated.*)", STALE),
    POETRY.error(r"^(?P<message>.{0,200}pyproject\.toml changed significantly since poetry\.lock.*)", STALE),
    POETRY.error(r"^(?:Because .{1,600}, )?(?P<message>version solving failed\.)", CLASH),
    POETRY.error(r"^ {0,4}(?P<message>Unable to find installation candidates for .*)", ABSENT),
    CONDA.error(
        r"^(?P<message>(?:ResolvePackageNotFound|PackagesNotFoundError|UnsatisfiableError|"
        r"LibMambaUnsatisfiableError).*)",
        ABSENT,
    ),
    NPM.last_word(
        r"^npm (?:ERR!|error) code (?P<code>ERESOLVE|ETARGET|E404|EUSAGE|EBADENGINE|EINTEGRITY|ENOLOCK|EJSONPARSE)\b",
        "npm cannot install what is asked for",
    ),
    NPM.error(
        r"^npm (?:ERR!|error) (?P<message>(?:`npm ci` can only install packages when|Could not resolve dependency|"
        r"No matching version found for|Missing: |Invalid: lock file's|404 {1,2}'.*' is not in|Unsupported engine).*)",
        "npm cannot install what is asked for",
    ),
    YARN.error(
        r"^error (?P<message>(?:Your lockfile needs to be updated|Couldn't find (?:any versions for|package)|"
        r"Found incompatible module|An unexpected error occurred: \".*Not found).*)",
        "yarn cannot install what is asked for",
    ),
    YARN.error(
        r"^(?:\u27a4 )?(?P<code>YN0028|YN0082|YN0035|YN0018): (?P<message>.*)", "yarn cannot install what is asked for"
    ),
    PNPM.error(
        r"^\W{0,4}(?P<code>ERR_PNPM_(?:OUTDATED_LOCKFILE|NO_MATCHING_VERSION|PEER_DEP_ISSUES|FETCH_404|"
        r"LOCKFILE_CONFIG_MISMATCH|UNSUPPORTED_ENGINE|NO_LOCKFILE|BROKEN_LOCKFILE))\W{1,4}(?P<message>.*)",
        "pnpm cannot install what is asked for",
    ),
    CARGO.error(r"^error: (?P<message>failed to select a version for .*)", CLASH),
    CARGO.error(r"^error: (?P<message>no matching package (?:named|found).*)", ABSENT),
    CARGO.error(
        r"^error: (?P<message>the lock file \S{1,300} needs to be updated.*|cannot update the lock file .*)", STALE
    ),
    CARGO.error(
        r"^error: (?P<message>(?:package `.{1,120}` cannot be built because it requires|rustc \S+ is not supported).*)",
        "this Rust is too old",
    ),
    GO.error(
        r"^(?:(?P<file>[^\s:]+\.go):(?P<line>\d+):\d+: )?(?P<message>(?:no required module provides package|"
        r"missing go\.sum entry|cannot find module providing|updates to go\.(?:mod|sum) needed).*)",
        "a module is not recorded",
    ),
    GO.error(
        r"^go: (?P<message>\S+@\S+: (?:invalid version|reading \S+: 404|unrecognized|parsing|module declares|"
        r"requires go).*)",
        ABSENT,
    ),
    GO.error(
        r"^(?:go: )?(?P<message>verifying \S+: checksum mismatch|inconsistent vendoring.*|updates to go\.mod needed.*)",
        STALE,
    ),
    GO.error(
        r"^go: (?P<message>(?:errors parsing go\.mod|go\.mod requires go >= .*|inconsistent vendoring.*))",
        "go.mod asks for what is not there",
    ),
    MAVEN.last_word(
        rf"^\[ERROR\] {FETCHED}(?:Failed to execute goal .{{0,300}}: )?(?P<message>Could not (?:resolve dependencies|"
        r"find artifact|collect dependencies) .*)",
        ABSENT,
    ),
    MAVEN.error(
        rf"^\[ERROR\] {FETCHED}(?P<message>Plugin \S+ or one of its dependencies could not be resolved.*)", ABSENT
    ),
    GRADLE.error(
        r"^ {0,8}>? ?(?P<message>Could not (?:resolve all (?:files|dependencies|artifacts|task dependencies)|"
        r"resolve|find) \S.*)",
        ABSENT,
    ),
    BUNDLER.error(
        r"^(?P<message>Could not find (?:compatible versions|gem|\S+-\d\S* in (?:any of the sources|locally)).*)",
        ABSENT,
    ),
    BUNDLER.error(
        r"^(?P<message>Bundler could not find compatible versions for gem .*|Your bundle is locked to .*|"
        r"The dependencies in your gemfile changed.*)",
        CLASH,
    ),
    COMPOSER.error(
        r"^ {0,4}(?P<message>Your (?:requirements could not be resolved|lock file does not contain).*)", CLASH
    ),
    APT.error(
        r"^E: (?P<message>(?:Unable to locate package|Package '.{1,80}' has no installation candidate|"
        r"Version '.{1,80}' for).*)",
        ABSENT,
    ),
    PYTHON.error(
        r"^(?P<message>(?:ModuleNotFoundError|ImportError): (?:No module named|cannot import name|"
        r"lib\S+: cannot open).*)",
        MISSING,
    ),
    PYTHON.error(r"^\S{0,200}python[\d.]{0,6}(?:\.exe)?: (?P<message>No module named \S+)", MISSING),
    NODE.error(
        r"^(?:\[?Error(?: \[ERR_MODULE_NOT_FOUND\])?: )(?P<message>Cannot find (?:module|package) '.*)", MISSING
    ),
)
