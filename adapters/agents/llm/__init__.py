"""The `llm` agent: a model that reads, searches, edits and runs checks through recorded activities.

A child workflow on a queue and a worker of its own. Each question to the model is one activity, each use of a tool is
one of the core's, so a killed worker goes on from what was answered. Needs the extra `ci-sweeper[llm]`.
"""
