"""The search attributes a sweep is found by: the workflow sets them, a namespace must know them first.

Temporal refuses a start that sets an unregistered attribute, so every namespace is prepared with these.
"""

from temporalio.api.enums.v1 import IndexedValueType

from sweeper.workflows.progress import REPOSITORY, SIGNATURE, STEP, TARGET, WAITING_UNTIL

REGISTERED: dict[str, IndexedValueType.ValueType] = {
    REPOSITORY.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    TARGET.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    STEP.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    SIGNATURE.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    WAITING_UNTIL.name: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
}
"""Name to type, as the operator API wants them."""
