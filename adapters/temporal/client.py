"""The way to a Temporal service: the embedded one, one by address, or one by TOML profile, all with the same code."""

import asyncio
import atexit
import functools
import logging
import re
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from pydantic import model_validator
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError, RPCStatusCode

from adapters.temporal.attributes import REGISTERED
from sweeper.errors import AuthBroken, BadInput, NotFound, OutOfReach
from sweeper.model import Strict

_ADDRESS = re.compile(r"[\w.-]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}")
RPC_SECONDS = 5.0
"""For writes and for connecting: a server that is started again in between answers in time."""
READ_SECONDS = 3.0
"""For what a person waits for."""
RPC_TIMEOUT = timedelta(seconds=RPC_SECONDS)
RETENTION = timedelta(days=30)
"""How long an ended sweep's id stays taken, so that a late duplicate trigger is still one. Servers default to a day."""


class TemporalTarget(Strict):
    """Which service to use: `address` (host:port), else a `profile` of temporalio's TOML configuration."""

    address: str | None = None
    profile: str | None = None
    namespace: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "TemporalTarget":
        if self.address and self.profile:
            raise ValueError("give Temporal an address or a profile, not both")
        return self


@functools.cache
def _runtime() -> Runtime:
    # The SDK's native threads crash an interpreter that exits in the instant an answer is handed over (about 4 % of
    # short commands, measured); a moment's pause at exit lets them finish.
    atexit.register(time.sleep, 0.05)
    # Left alone, the SDK's core prints its warnings to stdout, where `--json` promises one document.
    forward = LogForwardingConfig(logger=logging.getLogger("temporalio.core"))
    filters = TelemetryFilter(core_level="WARN", other_level="ERROR")
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(filter=filters, forwarding=forward)))


def address_of(client: Client) -> str:
    """For sentences: where the client talks to."""
    return client.service_client.config.target_host


async def connect(target: TemporalTarget) -> Client:
    """A client that has spoken to the service.

    Raises OutOfReach naming the address, BadInput for an address or profile that cannot be used.
    """
    config = _connect_config(target)
    address = config["target_host"]
    try:
        async with asyncio.timeout(RPC_SECONDS):
            return await Client.connect(**config, data_converter=pydantic_data_converter, runtime=_runtime())
    except (RuntimeError, ValueError, TimeoutError) as error:
        raise OutOfReach(_no_answer(address)) from error
    except RPCError as error:
        raise _meaning(error, address) from error


def _connect_config(target: TemporalTarget) -> ClientConnectConfig:
    if target.address and not _ADDRESS.fullmatch(target.address):
        raise BadInput(f"{target.address!r} is no Temporal address: give host:port, for instance 127.0.0.1:7233.")
    config = ClientConnectConfig(target_host=target.address or "127.0.0.1:7233", namespace="default")
    if target.profile:
        try:
            config.update(ClientConfig.load_client_connect_config(profile=target.profile))
        except (RuntimeError, ValueError) as error:
            raise BadInput(f"The Temporal profile {target.profile!r} cannot be used: {error}.") from error
    if target.namespace:
        config["namespace"] = target.namespace
    return config


@asynccontextmanager
async def reaching(client: Client, seconds: float = RPC_SECONDS) -> AsyncIterator[None]:
    """Bound calls and turn their errors into ours: NotFound, AuthBroken, else OutOfReach.

    The SDK tries an unreachable server for 10 s whatever its `rpc_timeout`; a webhook cannot wait that long.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise OutOfReach(_no_answer(address_of(client))) from error
    except RPCError as error:
        raise _meaning(error, address_of(client)) from error


def _no_answer(address: str) -> str:
    return (
        f"Temporal at {address} does not answer: start `sweeper serve`, or set SWEEPER_TEMPORAL_ADDRESS to a server"
        " that runs."
    )


def _meaning(error: RPCError, address: str) -> NotFound | AuthBroken | OutOfReach:
    match error.status:
        case RPCStatusCode.NOT_FOUND:
            return NotFound(f"Temporal at {address} does not know it: {error.message}.")
        case RPCStatusCode.PERMISSION_DENIED | RPCStatusCode.UNAUTHENTICATED:
            return AuthBroken(f"Temporal at {address} refuses our credentials ({error.message}): mend its profile.")
        case RPCStatusCode.UNAVAILABLE | RPCStatusCode.DEADLINE_EXCEEDED | RPCStatusCode.CANCELLED:
            return OutOfReach(_no_answer(address))
        case _:
            return OutOfReach(f"Temporal at {address} did not do it ({error.message}): see `sweeper doctor`.")


async def prepare_namespace(client: Client) -> tuple[str, ...]:
    """Register the search attributes and keep ended sweeps at least 30 days. Twice is a no-op: it looks first.

    Returns a sentence for what the service did not let us arrange and we can do without. Raises NotFound (no such
    namespace) and AuthBroken (the attributes are missing and an operator has to register them).
    """
    await _register_attributes(client)
    return await _extend_retention(client)


async def _register_attributes(client: Client) -> None:
    missing = await _missing_attributes(client)
    if not missing:
        return
    request = AddSearchAttributesRequest(namespace=client.namespace)
    request.search_attributes.update({name: REGISTERED[name] for name in missing})
    try:
        async with asyncio.timeout(RPC_SECONDS):
            await client.operator_service.add_search_attributes(request)
    except (RPCError, TimeoutError) as error:
        if isinstance(error, RPCError) and error.status is RPCStatusCode.ALREADY_EXISTS:
            return
        raise AuthBroken(_ask_operator(client, missing)) from error


async def _missing_attributes(client: Client) -> list[str]:
    request = ListSearchAttributesRequest(namespace=client.namespace)
    async with reaching(client):
        known = (await client.operator_service.list_search_attributes(request)).custom_attributes
    for name, kind in REGISTERED.items():
        if name in known and known[name] != kind:
            raise BadInput(
                f"The Temporal namespace {client.namespace} has a search attribute {name} of another type:"
                f" use another namespace or make it a {_type_name(kind)}."
            )
    return [name for name in REGISTERED if name not in known]


def _type_name(kind: IndexedValueType.ValueType) -> str:
    return IndexedValueType.Name(kind).removeprefix("INDEXED_VALUE_TYPE_").title()


def _ask_operator(client: Client, missing: Iterable[str]) -> str:
    options = " ".join(f"--name {name} --type {_type_name(REGISTERED[name])}" for name in missing)
    return (
        f"Temporal at {address_of(client)} did not let us register search attributes: have its operator run"
        f" `temporal operator search-attribute create --namespace {client.namespace} {options}`."
    )


async def _extend_retention(client: Client) -> tuple[str, ...]:
    describe = DescribeNamespaceRequest(namespace=client.namespace)
    async with reaching(client):
        found = (await client.workflow_service.describe_namespace(describe)).config.workflow_execution_retention_ttl
    if found.ToTimedelta() >= RETENTION:
        return ()
    wanted = Duration()
    wanted.FromTimedelta(RETENTION)
    update = UpdateNamespaceRequest(
        namespace=client.namespace, config=NamespaceConfig(workflow_execution_retention_ttl=wanted)
    )
    try:
        async with reaching(client):
            await client.workflow_service.update_namespace(update)
    except (AuthBroken, OutOfReach):
        kept = found.ToTimedelta().total_seconds() / 86400
        return (
            f"Temporal keeps ended sweeps for {kept:g} days only, so a later duplicate trigger may start anew: have its"
            f" operator run `temporal operator namespace update --namespace {client.namespace} --retention 30d`.",
        )
    return ()
