import type { Bus } from '@bunting/bus';
import { type DeliveryScope, describeScope } from '@bunting/contracts';
import { startInMemoryProjection } from '@bunting/outbox';
import { LRUCache } from 'lru-cache';
import type { GatewayConfig } from '../config.ts';
import { deliveryStore } from './delivery-store.ts';
import { type DeliveryView, deliveryView } from './delivery-view.ts';

export interface DeliveryOptions {
  readonly bus: Bus;
  readonly config: Pick<
    GatewayConfig,
    'GATEWAY_DELIVERY_POLL_INTERVAL_MS' | 'GATEWAY_DELIVERY_WAIT_TIMEOUT_MS' | 'GATEWAY_DELIVERY_CACHE_MIB'
  >;
  readonly warn: (message: string) => void;
}

/**
 * The delivery to SDKs out of the memory of this process: a projection of the `delivery` rows of the features service, and what each scope gets
 * of it. What was read once is served while PostgreSQL or NATS is away.
 */
export const startDelivery = async ({ bus, config, warn }: DeliveryOptions) => {
  const store = deliveryStore();
  const projection = await startInMemoryProjection({
    ...{ consumer: 'gateway', producer: 'features', topic: 'delivery', bus, warn },
    intervalMs: config.GATEWAY_DELIVERY_POLL_INTERVAL_MS,
    apply: store.apply,
    reset: store.reset,
  });
  const maxSize = config.GATEWAY_DELIVERY_CACHE_MIB * 1024 * 1024;
  const views = new LRUCache<string, DeliveryView>({
    maxSize,
    // A view that alone exceeds the size is cached all the same.
    sizeCalculation: (view) => Math.min(maxSize, view.bytes),
  });

  return {
    store,
    /** Whether everything was read once; before that, there is nothing to serve. */
    get isLoaded(): boolean {
      return projection.isLoaded;
    },
    /** Waits until everything that was committed before this call is in memory. @returns how many milliseconds it is behind */
    catchUp: (): Promise<number> => projection.catchUp(config.GATEWAY_DELIVERY_WAIT_TIMEOUT_MS),
    viewOf: (scope: DeliveryScope): DeliveryView => {
      const key = JSON.stringify(describeScope(scope));
      const cached = views.get(key);
      if (cached !== undefined) return cached;
      const view = deliveryView(store, scope);
      views.set(key, view);
      return view;
    },
    /** Updates the size of a view in the cache. */
    resized: (view: DeliveryView): void => void views.set(JSON.stringify(describeScope(view.scope)), view),
    stop: (): Promise<void> => projection.stop(),
  };
};
export type Delivery = Awaited<ReturnType<typeof startDelivery>>;
