"""What shows that the machine, the network or a service failed, not the code. Sources: the runner's own messages."""

from sweeper.model import Action, FailureClass
from sweeper.policy.triage.tables.words import Words

CLASS = FailureClass.INFRASTRUCTURE
RUNNER = Words("runner", CLASS)
TIME_LIMIT = Words("time limit", CLASS)
CANCELED = Words("cancelled", CLASS, Action.TELL_HUMAN)
RATE_LIMIT = Words("rate limit", CLASS, Action.WAIT)
OUTAGE = Words("outage", CLASS, Action.WAIT)
MEMORY = Words("memory", CLASS)
DISK = Words("disk", CLASS)
NETWORK = Words("network", CLASS)
REGISTRY = Words("registry", CLASS)
ACTIONS = Words("action download", CLASS)
DOCKER = Words("docker daemon", CLASS)

LOST = "the runner went away"
BROKEN_OFF = "a connection broke"
UNREACHED = "a host could not be reached"
UNTRUSTED = "a secure connection could not be made"
SERVER = "a server failed"

ROWS = (
    RUNNER.last_word(r"(?P<message>The runner has received a shutdown signal)", LOST),
    RUNNER.last_word(
        r"(?P<message>The (?:hosted|self-hosted) runner(?:: .{1,80})? lost communication with the server)", LOST
    ),
    RUNNER.last_word(r"(?P<message>The (?:self-hosted )?runner .{0,80}did not (?:connect|acquire))", LOST),
    RUNNER.last_word(
        r"(?P<message>GitHub Actions has encountered an internal error when running your job)", "GitHub itself failed"
    ),
    RUNNER.last_word(r"(?P<message>The job was not (?:acquired by Runner|started because))", "no runner took the job"),
    RUNNER.last_word(r"(?P<message>No runner matching the specified labels was found)", "no runner has these labels"),
    RUNNER.error(
        r"^(?:Error: )?(?P<message>Version \S{1,40} (?:was not found|not found) in the (?:local|"
        r"tool) cache)",
        "a tool is not on the runner",
    ),
    RUNNER.error(r"^(?P<message>Internal server error\. Correlation ID: )", "GitHub itself failed"),
    RUNNER.hint(r"^A task was canceled\.$", "the runner stopped what it did"),
    TIME_LIMIT.last_word(
        r"(?P<message>has exceeded the maximum execution time)", "the time limit of the job was reached"
    ),
    TIME_LIMIT.last_word(
        r"(?P<message>The action '.{1,200}' has timed out after \d{1,6} minutes)",
        "the time limit of a step was reached",
    ),
    CANCELED.last_word(
        r"^(?:Error: )?(?P<message>The operation was canceled\.)", "it was cancelled, and nothing says why"
    ),
    CANCELED.last_word(
        r"^(?P<message>Canceling since a higher priority waiting request)", "a newer run took its place"
    ),
    CANCELED.last_word(
        r"(?P<message>The (?:strategy configuration|job) was canceled because)", "another job's end cancelled it"
    ),
    RATE_LIMIT.last_word(r"(?P<message>API rate limit (?:already )?exceeded)", "too many requests were made"),
    RATE_LIMIT.last_word(
        r"(?P<message>(?:exceeded a|hit a) secondary rate limit|secondary rate limit exceeded)",
        "too many requests were made",
    ),
    RATE_LIMIT.last_word(r"^npm (?:ERR!|error) code (?P<message>E429)", "too many requests were made"),
    RATE_LIMIT.last_word(r"(?P<message>toomanyrequests: )", "the image registry refuses more pulls"),
    RATE_LIMIT.error(
        r"\b(?P<message>429 Too Many Requests|HTTP(?: error)?:? 429\b|status"
        r"(?: code)?:? 429\b)",
        "too many requests were made",
    ),
    OUTAGE.error(
        r"(?P<message>(?:We're sorry, but something went wrong|Unicorn! .{1,8} GitHub|"
        r"No server is currently available to service your request))",
        "GitHub answers with an error page",
    ),
    MEMORY.last_word(
        r"^(?:.{0,300}: line \d{1,6}: {1,8}\d{1,9} |"
        r"g?make(?:\[\d{1,4}\])?: \*\*\* \[.{1,200}\] )?Killed(?: {2,40}\S.*)?$",
        "a process was killed, as if memory ran out",
    ),
    MEMORY.last_word(
        r"^(?:Error: )?Process completed with exit code 137\.", "a process was killed, as if memory ran out"
    ),
    MEMORY.last_word(
        r"(?P<message>The process '.{1,200}' failed with exit code 137)\b", "a process was killed, as if memory ran out"
    ),
    MEMORY.error(r"(?P<message>Out of memory: Killed process|oom-kill|OOMKilled)", "memory ran out"),
    MEMORY.error(
        r"(?P<message>JavaScript heap out of memory|java\.lang\.OutOfMemoryError: [\w ]{1,60}|"
        r"fatal error: Killed signal terminated program \w+)",
        "memory ran out",
    ),
    MEMORY.error(r"(?P<message>Cannot allocate memory|std::bad_alloc|virtual memory exhausted)", "memory ran out"),
    MEMORY.error(
        r"(?P<message>The Gradle daemon disappeared unexpectedly|Gradle build daemon disappeared unexpectedly)",
        "a build process died",
    ),
    DISK.last_word(
        r"(?P<message>No space left on device|ENOSPC: no space left|There is not enough space on the disk|"
        r"Disk quota exceeded)",
        "the disk is full",
    ),
    ACTIONS.last_word(r"(?P<message>Failed to download archive) '", "an action could not be fetched"),
    ACTIONS.last_word(r"^Action '[^']{1,400}' (?P<message>download has timed out)", "an action could not be fetched"),
    ACTIONS.error(r"(?P<message>Failed to resolve action download info)", "an action could not be fetched"),
    ACTIONS.hint(r"^Failed to download action '", "an action could not be fetched at first"),
    DOCKER.error(
        r"(?P<message>Cannot connect to the Docker daemon|error during connect: .{0,60}docker)", "docker does not run"
    ),
    DOCKER.error(
        r"^(?:Error response from daemon: )(?P<message>(?:Get \"https?://|Head \"https?://|"
        r"received unexpected HTTP status: 5|net/http: ).*)",
        "the image registry did not answer",
    ),
    DOCKER.error(
        r"^(?P<message>Docker pull failed with exit code \d+|Failed to initialize container )",
        "an image could not be fetched",
    ),
    DOCKER.error(
        r"(?P<message>failed to do request: Head|failed to copy: httpReadSeeker|"
        r"failed to fetch anonymous token|failed to fetch oauth token)",
        "the image registry did not answer",
    ),
    NETWORK.last_word(
        r"^WARNING: Retrying \(Retry\(total=0,.{0,120} after connection broken by '(?P<message>\w+)", BROKEN_OFF
    ),
    NETWORK.last_word(
        r"^ERROR: Could not install packages due to an (?:OSError|EnvironmentError): "
        r"(?P<message>HTTPSConnectionPool|\(.{0,20}Connection|HTTPConnectionPool).*",
        BROKEN_OFF,
    ),
    NETWORK.last_word(
        r"^npm (?:ERR!|error) code (?P<message>ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|"
        r"ERR_SOCKET_TIMEOUT|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)\b",
        BROKEN_OFF,
    ),
    NETWORK.last_word(r"^\[ERROR\] .{0,900}(?P<message>Could not transfer artifact \S+ from/to .*)", BROKEN_OFF),
    NETWORK.error(r"^WARNING: Retrying .{0,120} after connection broken by '(?P<message>\w+)", BROKEN_OFF),
    NETWORK.error(
        r"^(?:npm (?:ERR!|error) |yarn .{0,40}|error )?.{0,120}\b(?P<message>ECONNRESET|ETIMEDOUT|"
        r"EAI_AGAIN|ENETUNREACH|ERR_SOCKET_TIMEOUT)\b",
        BROKEN_OFF,
    ),
    NETWORK.error(
        r"^(?:fatal: |error: |\u0020*)(?P<message>unable to access '[^']{1,400}': (?:Could not resolve|"
        r"Failed to connect|The requested URL returned error: 5|Recv failure|OpenSSL|GnuTLS|TLS|SSL|Empty reply|"
        r"Operation timed out).*)",
        UNREACHED,
    ),
    NETWORK.error(
        r"^(?:fatal|error): (?P<message>(?:the remote end hung up unexpectedly|early EOF|RPC failed; .*|"
        r"fetch-pack: unexpected disconnect.*))",
        BROKEN_OFF,
    ),
    NETWORK.error(r"(?P<message>(?:curl|wget): \((?:5|6|7|18|28|35|52|56|92)\) .{1,300})", UNREACHED),
    NETWORK.error(
        r"(?P<message>Temporary failure (?:in name resolution|resolving)|Could not resolve host|"
        r"no such host|Name or service not known|getaddrinfo (?:ENOTFOUND|EAI_AGAIN|failed)|"
        r"nodename nor servname provided)",
        "a name was not resolved",
    ),
    NETWORK.error(
        r"(?P<message>(?:ConnectTimeoutError|ReadTimeoutError|ConnectionResetError|RemoteDisconnected|"
        r"IncompleteRead|ProtocolError)\b(?!.{0,40}(?:PASSED|ok$)))",
        BROKEN_OFF,
    ),
    NETWORK.error(
        r"(?P<message>TLS handshake timeout|tls: failed to verify|SSL: CERTIFICATE_VERIFY_FAILED|"
        r"SSLError\(|SSL_ERROR_SYSCALL|certificate has expired|gnutls_handshake\(\) failed|"
        r"x509: certificate)",
        UNTRUSTED,
    ),
    NETWORK.error(
        r"(?P<message>i/o timeout|connection reset by peer|Connection reset by peer|"
        r"Connection timed out|Network is unreachable|net/http: request canceled while waiting|"
        r"context deadline exceeded \(Client\.Timeout|socket hang up|unexpected EOF from server)",
        BROKEN_OFF,
    ),
    NETWORK.error(
        r"(?P<message>Connect(?:ion)? to \S{1,200} (?:timed out|failed)|[> ]Read timed out|[> ][Cc]onnect timed out)",
        BROKEN_OFF,
    ),
    NETWORK.hint(
        r"(?P<message>java\.net\.(?:SocketTimeoutException|UnknownHostException|ConnectException|SocketException))",
        BROKEN_OFF,
    ),
    NETWORK.error(
        r"^ {0,20}(?:\[\d+\] |warning: |error: )?(?P<message>spurious network error|"
        r"failed to download from `|download of .{1,120} failed$)",
        BROKEN_OFF,
    ),
    NETWORK.error(r"^E: (?P<message>Failed to fetch .*)", "a package list or package could not be fetched"),
    NETWORK.error(
        r"^E: (?P<message>Could not get lock .*|Unable to acquire the dpkg .*)",
        "the machine was busy installing something else",
    ),
    REGISTRY.error(
        r"\b(?P<message>5\d\d (?:Internal Server Error|Bad Gateway|Service Unavailable|"
        r"Service Temporarily Unavailable|Gateway Time-?[Oo]ut))\b",
        SERVER,
    ),
    REGISTRY.last_word(r"^npm (?:ERR!|error) (?:code )?(?P<message>E5\d\d|5\d\d )", SERVER),
    REGISTRY.error(r"(?P<message>Received status code 5\d\d from server)", SERVER),
    REGISTRY.error(
        r"(?P<message>(?:HTTP(?: [Ee]rror)?|status(?: code)?|Status Code|returned error):? 5(?:00|02|"
        r"03|04)\b)",
        SERVER,
    ),
    REGISTRY.error(
        r"(?P<message>Failed to restore cache|Cache service responded with (?:4|5)\d\d|"
        r"reserveCache failed)",
        "the cache service failed",
    ),
    REGISTRY.error(
        r"(?P<message>Failed to (?:CreateArtifact|FinalizeArtifact|ListArtifacts): .{0,200})",
        "the artefact service failed",
    ),
)
