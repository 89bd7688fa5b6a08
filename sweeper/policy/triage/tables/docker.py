"""What `docker build` and buildkit say. An image that cannot be fetched is with the infrastructure."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

BUILD = Words("docker build", FailureClass.BUILD)
IMAGE = Words("docker build", FailureClass.DEPENDENCY)
SETTINGS = Words("docker build", FailureClass.CONFIGURATION)

ROWS = (
    SETTINGS.last_word(
        r"(?P<message>(?:[Dd]ockerfile parse error|failed to read dockerfile|"
        r"unable to prepare context).*)",
        "the Dockerfile cannot be read",
    ),
    SETTINGS.error(
        r"^(?:ERROR: |yaml: |validating )(?P<message>\S{1,200}(?:compose\.ya?ml|"
        r"docker-compose\.ya?ml).{0,200}(?:is invalid|not allowed|must be).*)",
        "the compose file is wrong",
    ),
    IMAGE.error(
        r"(?P<message>manifest unknown|manifest for \S{1,200} not found|pull access denied for \S{1,120}|"
        r"failed to resolve source metadata for \S{1,200} not found)",
        "an image is not there",
    ),
    BUILD.last_word(
        r"^(?:Error: )?(?:buildx failed with: )?(?:ERROR: |error: )(?P<message>failed to (?:solve|build): (?!.{0,200}"
        r"(?:failed to do request|failed to fetch|toomanyrequests|i/o timeout)).*)",
        "a step of the image's build failed",
    ),
    BUILD.last_word(
        r"^(?P<message>The command '.{1,600}' returned a non-zero code: \d+)", "a step of the image's build failed"
    ),
    BUILD.error(
        r"^(?:#\d+ )?ERROR: (?P<message>(?:process \"|executor failed running|failed to "
        r"(?:calculate checksum|compute cache key)).*)",
        "a step of the image's build failed",
    ),
    BUILD.error(r"^(?:COPY|ADD) failed: (?P<message>.*)", "a file is not there for the image"),
    BUILD.hint(r"^(?P<file>[^\s:]*Dockerfile[^\s:]*):(?P<line>\d+)$", "the build of the image failed here"),
)
