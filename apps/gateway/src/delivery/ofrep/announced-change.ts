import { unavailable } from '@bunting/contracts';
import type { FastifyReply } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestAborted } from '../../http/request/body.ts';
import type { ServerSentEvent } from '../../streaming/server-sent-event.ts';
import type { Delivery } from '../delivery.ts';
import { parseRevision } from '../sdk-handler.ts';

/**
 * Maximum milliseconds that an evaluation waits for an announced change: as long as a gateway takes to reconnect to NATS and to catch up.
 */
const announcedWaitMs = 5_000;
const announcedIntervalMs = 50;

const entityTagOfEvent = (revision: number): string => `"${revision}"`;
const revisionOfEntityTag = (tag: string): number | undefined => parseRevision(/^"(.*)"$/.exec(tag)?.[1]);

/** The event that announces a change: the client evaluates all flags again, and sends the tag of the event with this request. */
export const refetchEvent = (revision: number): ServerSentEvent => ({
  id: revision,
  data: JSON.stringify({
    type: 'refetchEvaluation',
    etag: entityTagOfEvent(revision),
    lastModified: Math.floor(Date.now() / 1_000),
  }),
});

/**
 * Waits for the change that an event of another gateway has announced. The client evaluates once for each event: an evaluation that lacks
 * the change would stay in use until the next event.
 * @throws Refusal `ServiceUnavailable`, at which clients keep what they have; RequestAborted when the client has disconnected
 */
export const awaitAnnouncedChange = async (
  delivery: Pick<Delivery, 'store' | 'catchUp'>,
  eventTag: string | undefined,
  response: FastifyReply,
): Promise<void> => {
  const announced = revisionOfEntityTag(eventTag ?? '') ?? 0;
  const deadline = performance.now() + announcedWaitMs;
  while (announced > delivery.store.position && (await delivery.catchUp()) > 0) {
    if (performance.now() > deadline)
      throw unavailable(
        'The gateway lacks the change of the event, since it cannot read the features. Evaluate again.',
      );
    await sleep(announcedIntervalMs);
    if (response.raw.destroyed) throw new RequestAborted('The connection ended before its change arrived.');
  }
};
