"""A Kafka broker inside this process, for demos, tests and benchmarks of Quix Streams.

librdkafka, the Kafka client of Quix Streams, has a mock broker, which other processes can reach as
well. It creates a topic of four partitions when the topic is first named and keeps at most 5 MiB of a
partition. It supports consumer groups, but neither the isolation of transactions nor the
administration of topics.

"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from confluent_kafka import Producer, TopicPartition
from quixstreams import Application
from quixstreams.checkpointing.exceptions import CheckpointConsumerCommitError
from quixstreams.kafka import ConnectionConfig
from quixstreams.models import Topic, TopicAdmin, TopicConfig, TopicManager

__all__ = ["application", "broker"]

# Short, so that a group soon notices a dead member. Below three seconds, members would time out
# while they wait for the group to form.
QUICK = {
    "session.timeout.ms": 3500,
    "heartbeat.interval.ms": 200,
    "fetch.wait.max.ms": 50,
    "fetch.error.backoff.ms": 50,
    "topic.metadata.refresh.interval.ms": 2000,
}


@contextlib.contextmanager
def broker() -> Iterator[str]:
    """Run a broker, and yield its address."""
    cluster = Producer({"test.mock.num.brokers": 1, "log_level": 3})
    (member,) = cluster.list_topics(timeout=30).brokers.values()
    yield f"{member.host}:{member.port}"
    del cluster


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
