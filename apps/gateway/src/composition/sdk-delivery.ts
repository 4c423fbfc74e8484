import { StreamClientFeatures, StreamFlagChanges } from '@bunting/contracts';
import type { ServiceContext } from '@bunting/runtime';
import { unreadResponses } from '../admission/unread-responses.ts';
import type { GatewayConfig } from '../config.ts';
import { featurePollHandlers } from '../delivery/client/feature-poll-handlers.ts';
import { clientStream } from '../delivery/client/client-stream.ts';
import { fetchModePolicy } from '../delivery/client/fetch-mode-policy.ts';
import { preRoutingPollResponses } from '../delivery/client/pre-routing-poll-responses.ts';
import { startDelivery } from '../delivery/delivery.ts';
import { frontendHandlers } from '../delivery/frontend.ts';
import { ofrepHandlers } from '../delivery/ofrep/evaluations.ts';
import { ofrepStream } from '../delivery/ofrep/changes.ts';
import { streamTickets } from '../delivery/ofrep/stream-tickets.ts';
import { streamMetrics } from '../monitoring/stream-metrics.ts';
import { deliveryStreams } from '../delivery/streams/delivery-streams.ts';
import type { Authentication } from '../authentication.ts';

/** Starts the delivery to SDKs: the features in memory, streams, and the handlers that respond from both. */
export const startSdkDelivery = async (
  { config, bus, log, metrics, onStop, draining, drainDelayMs }: ServiceContext<typeof GatewayConfig>,
  { hasher, authenticate, authenticateFromCache, identifyById, admitBeforeRouting, limits }: Authentication,
) => {
  const delivery = await startDelivery({ bus, config, metrics, log });
  onStop('delivery to SDKs', () => delivery.stop());
  const unread = unreadResponses(config);
  const measures = streamMetrics(metrics);
  measures.open.set({ kind: 'events' }, 0);
  const streams = deliveryStreams({ delivery, config, limits, unread, metrics: measures, draining, drainDelayMs });
  // Derived from the key of tokens, which all gateways share.
  const tickets = streamTickets(hasher('the key of stream tickets').hash);
  const fetchMode = fetchModePolicy(config);
  const { directToStream } = fetchMode;
  return {
    delivery,
    unread,
    streams,
    openStreams: measures.open,
    sdkHandlers: new Map([
      ...featurePollHandlers(delivery, directToStream),
      ...frontendHandlers(delivery),
      ...ofrepHandlers({ delivery, tickets }),
      [StreamClientFeatures.subject, clientStream({ delivery, streams, authenticate, fetchMode })],
      [StreamFlagChanges.subject, ofrepStream({ delivery, streams, tickets, identifyById })],
    ]),
    respondBeforeRouting: preRoutingPollResponses({
      delivery,
      authenticateFromCache,
      admitBeforeRouting,
      directToStream,
    }),
  };
};
export type SdkDelivery = Awaited<ReturnType<typeof startSdkDelivery>>;
