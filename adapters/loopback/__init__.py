"""A small GitHub on loopback: REST, git smart HTTP, signed webhooks, a pull request page and a drive API.

It runs as its own process, keeps its state on disk and refuses what GitHub refuses. `server.serve` starts it;
`drive_client.DriveClient` plays the people and the CI around the product.

    core/      what GitHub knows and does, whoever asks: state, bare repositories, pulls, reviews, runs, pushes
    hooks/     webhook bodies, the outbox and the sender
    shapes/    GitHub's JSON for each thing, built on the address the caller used
    rest/      the REST face        git_http.py  the git door       blobs.py  the second listener, for job logs
    drive/     the drive API        pages/       the pages for a browser
    recorder.py  every REST and git call: faults before and after, ledger
"""
