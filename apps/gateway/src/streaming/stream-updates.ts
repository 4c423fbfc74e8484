import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Delivery } from '../delivery/delivery.ts';
import type { DeliveryView } from '../delivery/view/delivery-view.ts';
import type { StreamMetrics } from '../monitoring/stream-metrics.ts';
import { type Channel, endStream, isWritable, type StreamConnection } from '../delivery/streams/stream-connection.ts';
import type { StreamWriter } from './stream-writer.ts';

interface StreamUpdatesOptions {
  readonly delivery: Pick<Delivery, 'store' | 'isLoaded' | 'viewOf' | 'catchUp' | 'onChange'>;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly writer: Pick<StreamWriter, 'writeEvent'>;
  readonly metrics: Pick<StreamMetrics, 'lag'>;
}

/** The number of streams that are written to before other requests are handled. */
const streamsPerTurn = 500;
/** A revision before every revision of a store: the changes after it are the full state. */
const beforeAnyRevision = -1;

/**
 * Brings each stream from its own revision to the newest one: all streams at each change of the delivery, and a single one on request.
 * Changes that a slow client missed are merged, and nothing is queued for it.
 */
export const streamUpdates = ({ delivery, channels, writer, metrics }: StreamUpdatesOptions) => {
  const { store } = delivery;
  /** streams whose revision is later than that of the store: this gateway lags, or the database was restored from a backup */
  const aheadConnections = new Set<StreamConnection>();
  let changedAt = 0;

  /** @returns whether there was anything to send */
  const sendChanges = (connection: StreamConnection, view: DeliveryView, after: number): boolean => {
    const event = connection.options.changesAfter(view, after);
    // Changes outside the scope count as sent, so that the revision of an idle stream stays within the retained history.
    Object.assign(connection, { revision: store.position, epoch: store.epoch });
    if (event !== undefined) writer.writeEvent(connection, event);
    return event !== undefined;
  };

  /** @param channelView the view of the channel of the stream, where the caller has it */
  const bringUpToDate = (connection: StreamConnection, channelView?: DeliveryView): void => {
    if (!delivery.isLoaded || !isWritable(connection)) return;
    const isSameHistory = connection.epoch === store.epoch;
    if (isSameHistory && connection.revision > store.position) return void aheadConnections.add(connection);
    const view = channelView ?? delivery.viewOf(connection.channel.scope);
    if (!sendChanges(connection, view, isSameHistory ? connection.revision : beforeAnyRevision)) return;
    metrics.lag.observe({ kind: connection.options.kind }, (performance.now() - changedAt) / 1_000);
  };

  const bringChannelsUpToDate = async (): Promise<void> => {
    let written = 0;
    for (const { scope, connections } of channels.values()) {
      if (!store.hasEnvironment(scope.environment)) {
        for (const connection of connections) endStream(connection, 'environment');
        continue;
      }
      const view = delivery.viewOf(scope);
      for (const connection of connections) {
        bringUpToDate(connection, view);
        if (++written % streamsPerTurn === 0) await nextTurn();
      }
    }
  };
  let update: Promise<void> | undefined;
  /** whether the store has changed since the running update began */
  let hasChanged = false;
  delivery.onChange(() => {
    changedAt = performance.now();
    hasChanged = true;
    update ??= (async () => {
      while (hasChanged) {
        hasChanged = false;
        await bringChannelsUpToDate();
      }
    })().finally(() => void (update = undefined));
  });

  return {
    bringUpToDate,
    /** Brings the streams whose revision is later than that of the store up to date, once the store has applied all committed rows. */
    bringAheadUpToDate: async (): Promise<void> => {
      if (aheadConnections.size === 0) return;
      const waiting = [...aheadConnections];
      if ((await delivery.catchUp()) > 0 || !delivery.isLoaded) return;
      for (const connection of waiting) {
        aheadConnections.delete(connection);
        // A revision that is still later is from before a backup was restored.
        if (isWritable(connection))
          sendChanges(connection, delivery.viewOf(connection.channel.scope), connection.revision);
      }
    },
    /** To be called when a stream has closed. */
    remove: (connection: StreamConnection): void => void aheadConnections.delete(connection),
  };
};
