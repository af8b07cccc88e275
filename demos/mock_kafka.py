"""A Kafka broker inside this process, for demos, tests and benchmarks of Quix Streams.

librdkafka, the Kafka client of Quix Streams, has a mock broker, which other processes can reach as
well. It creates a topic of four partitions when the topic is first named and keeps at most 5 MiB of a
partition. It supports consumer groups, but neither the isolation of transactions nor the
administration of topics.

"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

from confluent_kafka import TopicPartition, cimpl
from quixstreams import Application
from quixstreams.checkpointing.exceptions import CheckpointConsumerCommitError
from quixstreams.kafka import ConnectionConfig
from quixstreams.models import Topic, TopicAdmin, TopicConfig, TopicManager

__all__ = ["application", "broker"]

# Short, so that a group soon notices a dead member.
QUICK = {
    "session.timeout.ms": 2000,
    "heartbeat.interval.ms": 200,
    "fetch.wait.max.ms": 50,
    "fetch.error.backoff.ms": 50,
    "topic.metadata.refresh.interval.ms": 2000,
}


# librdkafka, as Python's client has it: the mock broker has settings that only C reaches.
LIBRARY = ctypes.CDLL(cimpl.__file__)
for name in ("conf_new", "new", "mock_cluster_new"):
    getattr(LIBRARY, f"rd_kafka_{name}").restype = ctypes.c_void_p
LIBRARY.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p

# For how long the first member of a group waits for others, in milliseconds. The default is 3,000.
FIRST_WAIT = 200


@contextlib.contextmanager
def broker() -> Iterator[str]:
    """Run a broker, and yield its address."""
    settings = ctypes.c_void_p(LIBRARY.rd_kafka_conf_new())
    LIBRARY.rd_kafka_conf_set(settings, b"log_level", b"3", None, 0)
    producer = 0
    client = ctypes.c_void_p(LIBRARY.rd_kafka_new(producer, settings, None, 0))
    cluster = ctypes.c_void_p(LIBRARY.rd_kafka_mock_cluster_new(client, 1))
    LIBRARY.rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, FIRST_WAIT)
    yield LIBRARY.rd_kafka_mock_cluster_bootstraps(cluster).decode()
    LIBRARY.rd_kafka_mock_cluster_destroy(cluster)
    LIBRARY.rd_kafka_destroy(client)


def application(address: str, group: str, **options: Any) -> Application:
    """Return an application that runs on the mock broker."""
    admin = Admin(ConnectionConfig(bootstrap_servers=address))
    return TolerantApplication(
        broker_address=address,
        consumer_group=group,
        topic_manager=TopicManager(topic_admin=admin, consumer_group=group),
        consumer_extra_config=QUICK,
        consumer_poll_timeout=0.1,
        **options,
    )


class Admin(TopicAdmin):
    """Reads topics from the metadata, as the mock broker does not answer requests about topics."""

    def inspect_topics(
        self, topic_names: list[str], timeout: float = 30
    ) -> dict[str, TopicConfig | None]:
        known = self.list_topics(timeout=timeout)
        return {
            name: TopicConfig(
                num_partitions=len(known[name].partitions),
                replication_factor=1,
                extra_config={"retention.ms": "-1", "retention.bytes": "-1"},
            )
            if name in known
            else None
            for name in topic_names
        }

    def create_topics(
        self, topics: list[Topic], timeout: float = 30, finalize_timeout: float = 60
    ) -> None:
        for topic in topics:
            self.admin_client.list_topics(topic=topic.name, timeout=timeout)


class TolerantApplication(Application):
    """Continues when the mock broker refuses offsets during a rebalance, which a real one accepts.

    Nothing is lost: the events are delivered again.

    """

    def _on_revoke(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        try:
            super()._on_revoke(consumer, partitions)
        except CheckpointConsumerCommitError:
            self._processing_context.init_checkpoint()
