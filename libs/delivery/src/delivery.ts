import { type DeliveryScope, scopeKey } from '@bunting/contracts';
import type { Log } from '@bunting/runtime';
import { LRUCache } from 'lru-cache';
import type { DeliverySettings } from './settings.ts';
import type { DeliveryStore } from './store/delivery-store.ts';
import { type DeliveryView, deliveryView, type MayBeLater } from './view/delivery-view.ts';
import { evaluatorCache } from './view/evaluator-cache.ts';
import { resultCache } from './view/result-cache.ts';

export interface DeliveryOptions {
  readonly store: DeliveryStore;
  /** whether whoever fills the store has a complete state */
  readonly isLoaded: () => boolean;
  /** Waits until everything is in the store that had happened before this call. @returns the staleness in milliseconds */
  readonly catchUp: () => number | Promise<number>;
  /**
   * Whether a client may have a later revision than the store although `catchUp` found nothing missing, as one of another process may that is
   * filled at other times. Such a client gets no older state. Never where left out.
   */
  readonly mayBeLater?: MayBeLater;
  readonly config: Pick<DeliverySettings, 'GATEWAY_DELIVERY_CACHE_MIB'>;
  readonly log: Log;
}

/** The results of evaluations have this part of the size of the cache of full responses, besides it. */
const resultsShare = 4;

const always: MayBeLater = () => true;

/** What SDKs get out of a store: a view for each scope, and evaluations. */
export function deliveryOf({ store, isLoaded, catchUp, mayBeLater = () => false, config, log }: DeliveryOptions) {
  const listeners: (() => void)[] = [];
  const maxSize = config.GATEWAY_DELIVERY_CACHE_MIB * 1024 * 1024;
  const views = new LRUCache<string, DeliveryView>({
    maxSize,
    // A view that alone exceeds the maximum is cached all the same: otherwise each poll would serialise all features of its scope.
    sizeCalculation: (view) => Math.min(maxSize, view.bytes),
  });
  let hasWarned = false;
  /** Updates the size of a view in the cache. */
  const resize = (key: string, view: DeliveryView): void => {
    // The cache does not update the size of an entry whose value is set again.
    views.delete(key);
    views.set(key, view);
    if (hasWarned || view.bytes <= maxSize) return;
    hasWarned = true;
    const neededMib = Math.ceil(view.bytes / 1024 / 1024);
    log.warn(
      `The responses to SDKs of one scope in the environment ${view.scope.environment} take ${neededMib} MiB, more than all that ` +
        `GATEWAY_DELIVERY_CACHE_MIB=${config.GATEWAY_DELIVERY_CACHE_MIB} allows, so that they evict those of all other scopes. Set it to a few times as much.`,
    );
  };

  return {
    store,
    evaluationOf: evaluatorCache(store),
    resultOf: resultCache(maxSize / resultsShare),
    /** Whether the memory holds a complete state; until then there is nothing to serve. */
    get isLoaded(): boolean {
      return isLoaded() && store.isComplete;
    },
    catchUp,
    /** @param behindMs what `catchUp` found: while changes are missing, every later revision may be that of another replica */
    laterRevisions: (behindMs: number): MayBeLater => (behindMs > 0 ? always : mayBeLater),
    /** To be called after each change of the store, once it has everything that had happened when the change was read. */
    changed: (): void => {
      for (const listener of listeners) listener();
    },
    /** Calls a listener after each change. */
    onChange: (listener: () => void): void => void listeners.push(listener),
    /** @param key of the scope, for a caller that has it already */
    viewOf: (scope: DeliveryScope, key = scopeKey(scope)): DeliveryView => {
      const cached = views.get(key);
      if (cached !== undefined) return cached;
      const view = deliveryView(store, scope, () => resize(key, view));
      views.set(key, view);
      return view;
    },
  };
}
export type Delivery = ReturnType<typeof deliveryOf>;
