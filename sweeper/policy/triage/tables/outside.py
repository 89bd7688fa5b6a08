"""What no change of the code can mend: words of a pull request, signatures, approvals, rights and secrets."""

from sweeper.model import FailureClass
from sweeper.policy.triage.tables.words import Words

CLASS = FailureClass.OUTSIDE_CODE
TITLE = Words("pull request title", CLASS)
TEXT = Words("pull request text", CLASS)
LABEL = Words("labels", CLASS)
CLA = Words("CLA", CLASS)
DCO = Words("DCO", CLASS)
COMMITS = Words("commit messages", CLASS)
APPROVAL = Words("approval", CLASS)
SECRET = Words("secrets", CLASS)
RIGHTS = Words("rights", CLASS)
COVERAGE = Words("coverage service", CLASS)
CHANGELOG = Words("changelog", CLASS)
RELEASE = Words("release", CLASS)
DEPLOY = Words("deployment", CLASS)
BILLING = Words("billing", CLASS)

REFUSED = "the token lacks a right"
ABSENT = "a secret is not there, as in runs for forks"

ROWS = (
    TITLE.last_word(
        r"^(?:Error: )?(?P<message>No release type found in pull request title)", "the title breaks a rule"
    ),
    TITLE.last_word(
        r"^(?:Error: )?(?P<message>Unknown release type \".{1,60}\" found in pull request title)",
        "the title breaks a rule",
    ),
    TITLE.last_word(
        r"^(?:Error: )?(?P<message>(?:The )?(?:PR|[Pp]ull [Rr]equest) title .{0,120}(?:match|valid|"
        r"must|should|does not|doesn't|too).*)",
        "the title breaks a rule",
    ),
    TITLE.last_word(
        r"^(?:Error: )?(?P<message>(?:No scope found in|The subject .{1,200} found in the) pull request title.*)",
        "the title breaks a rule",
    ),
    TEXT.last_word(
        r"^(?:Error: )?(?P<message>(?:The )?(?:PR|[Pp]ull [Rr]equest)(?:'s)? (?:body|description|"
        r"template) .{0,120}(?:empty|must|should|missing|match|require|not ).*)",
        "the text breaks a rule",
    ),
    TEXT.last_word(
        r"^(?:Error: )?(?P<message>(?:The )?(?:PR|[Pp]ull [Rr]equest) (?:must|should|needs to) "
        r"(?:reference|link|mention|have an) .*)",
        "the text breaks a rule",
    ),
    LABEL.last_word(r"^(?:Error: )?(?P<message>Label error\. Requires .*)", "a label is missing or forbidden"),
    LABEL.last_word(
        r"^(?:Error: )?(?P<message>(?:PR|[Pp]ull [Rr]equest) (?:must have|is missing|needs|requires|"
        r"does not have) .{0,60}labels?.*)",
        "a label is missing or forbidden",
    ),
    CLA.last_word(
        r"(?P<message>Committers of [Pp]ull [Rr]equest(?: number)? .{0,40}have to sign the CLA|(?:have|"
        r"has) not signed the (?:CLA|Contributor License Agreement))",
        "the contributor agreement is not signed",
    ),
    DCO.last_word(
        r"^(?:Error: )?(?P<message>.{0,120}\b(?:[Mm]issing|lacks?|without|"
        r"no)\b.{0,40}\b[Ss]igned-off-by\b.*)",
        "a commit is not signed off",
    ),
    DCO.last_word(
        r"(?P<message>The sign-off is missing|commits? (?:is|are) missing (?:a )?(?:DCO|sign-?off)|"
        r"DCO check failed)",
        "a commit is not signed off",
    ),
    COMMITS.error(
        r"^\u2716 {1,4}(?P<message>[A-Za-z][\w ,:'-]{1,120}) \[(?P<code>(?:subject|type|scope|header|"
        r"body|footer)-[a-z-]{1,40})\]$",
        "a commit message breaks a rule",
    ),
    COMMITS.error(r"^(?:Error: )?(?P<message>You have commit messages with errors)", "a commit message breaks a rule"),
    APPROVAL.last_word(
        r"(?P<message>(?:[Rr]equires?|[Nn]eeds?|[Mm]issing|[Ww]aiting for) (?:at least )?(?:\d{1,3}|one|two) (?:more )?"
        r"(?:approving reviews?|approvals?))\b",
        "an approval is missing",
    ),
    APPROVAL.last_word(
        r"(?P<message>is not allowed to deploy to .{1,120} due to environment protection rules)",
        "a rule of the environment forbids it",
    ),
    SECRET.last_word(
        r"^(?:Error: )?(?P<message>Input required and not supplied: \S{0,30}(?:token|key|secret|"
        r"password|credentials?|username)\w*)",
        ABSENT,
    ),
    SECRET.last_word(
        r"^(?:Error: )?(?P<message>Parameter token or opts\.auth is required|"
        r"Username and password required|google-github-actions/auth failed with: .*|"
        r"Credentials could not be loaded.*)",
        ABSENT,
    ),
    SECRET.last_word(
        r"^\[ERROR\] .{0,900}(?P<message>Could not transfer artifact \S{1,300} from/to .{0,400}"
        r"(?:status(?: code)?: (?:401|403)|Unauthorized|Forbidden).*)",
        "credentials were refused",
    ),
    SECRET.error(
        r"^(?:Error: )?(?P<message>(?:Bad credentials|Could not read Username for 'https://|"
        r"The process .{1,80} because no secret).*)",
        "credentials were refused",
    ),
    SECRET.error(
        r"(?P<message>denied: requested access to the resource is denied|unauthorized: "
        r"(?:authentication required|incorrect username or password))",
        "credentials were refused",
    ),
    SECRET.error(
        r"^(?:ERROR|Error|error)?:? ?(?P<message>(?:[A-Z][A-Z0-9_]{2,40}_(?:TOKEN|KEY|SECRET|PASSWORD)|"
        r"[Ss]ecret \S{1,60}) (?:is )?(?:not set|not defined|missing|required|empty)\b.*)",
        ABSENT,
    ),
    RIGHTS.last_word(r"(?P<message>Resource not accessible by (?:integration|personal access token))", REFUSED),
    RIGHTS.last_word(r"(?P<message>Permission to \S{1,200} denied to )", REFUSED),
    RIGHTS.last_word(
        r"(?P<message>refusing to allow a (?:GitHub App|OAuth App|Personal Access Token) to create or update workflow)",
        REFUSED,
    ),
    RIGHTS.last_word(
        r"(?P<message>GH006: Protected branch update failed|GH013: Repository rule violations found|"
        r"protected branch hook declined)",
        "a rule of the branch forbids the push",
    ),
    RIGHTS.error(r"(?P<message>GitHub Actions is not permitted to create or approve pull requests)", REFUSED),
    COVERAGE.last_word(
        r"(?P<message>Rate limit reached\. Please upload with the Codecov repository upload token)",
        "a service for coverage did not take the report",
    ),
    COVERAGE.error(
        r"(?P<message>Codecov: Failed to .{1,200}|Upload failed: .{0,20}\"message\":.{0,200}|"
        r"There was an error (?:fetching the storage URL|running the uploader).{0,200}|"
        r"Codecov token not found)",
        "a service for coverage did not take the report",
    ),
    COVERAGE.error(
        r"^(?:Error: )?(?P<message>(?:Bad response: \d{3}.*coveralls|Could not submit coverage: |"
        r"coveralls .{0,60}(?:422|5\d\d)|Couldn't find a repository matching this job).*)",
        "a service for coverage did not take the report",
    ),
    CHANGELOG.error(
        r"^(?:Error: )?(?P<message>.{0,80}\b(?:[Cc]hange ?log|CHANGELOG(?:\.\w{2,4})?|"
        r"[Nn]ews fragment|[Cc]hangesets?|newsfragments?)\b.{0,80}\b(?:is missing|missing|required|not (?:been )?"
        r"(?:updated|found|modified)|must be|No changes).*)",
        "a note for the changelog is asked for",
    ),
    CHANGELOG.error(
        r"^(?:Error: )?(?P<message>(?:No (?:changelog|change log|news fragment|changeset|"
        r"new newsfragments)s? .{0,60}(?:found|entry|branch)|"
        r"Some packages have been changed but no changesets were found).*)",
        "a note for the changelog is asked for",
    ),
    RELEASE.last_word(
        r"^(?:\[ERROR\] |Error: {1,2})?(?P<message>Failed to execute goal \S{0,200}"
        r"(?:nexus-staging|central-publishing|gpg)(?:-maven)?-plugin:.*)",
        "a release could not be made",
    ),
    RELEASE.error(
        r"(?P<message>\[semantic-release\] (?:\[.{1,60}\] )?\S{0,4} ?(?:\u2716|\u2718) .{1,200}|"
        r"\[semantic-release\] \u203a \u2718 .{1,200})",
        "a release could not be made",
    ),
    RELEASE.error(
        r"\b(?P<message>(?:ENOGHTOKEN|ENONPMTOKEN|EINVALIDNPMTOKEN|EGITNOPERMISSION|"
        r"EINVALIDGHTOKEN)\b.*)",
        "a release lacks its credentials",
    ),
    RELEASE.error(
        r"(?P<message>You cannot publish over the previously published versions|"
        r"File already exists \(.{1,120}\)|HTTPError: 403 Forbidden from https://upload\.pypi\.org.{0,80}|"
        r"npm error code E403)",
        "this version is published already, or may not be",
    ),
    DEPLOY.error(
        r"(?P<message>Failed to create deployment \(status: \d{3}\)|Get Pages site failed|"
        r"Creating Pages deployment failed)",
        "a deployment was refused",
    ),
    BILLING.last_word(
        r"(?P<message>recent account payments have failed or your spending limit needs to be increased)",
        "GitHub wants to be paid",
    ),
    BILLING.last_word(
        r"(?P<message>The job was not started because your account is locked|"
        r"You have reached your .{0,40}quota|Artifact storage quota has been hit)",
        "a limit of the account is reached",
    ),
)
