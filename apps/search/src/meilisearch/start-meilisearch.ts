import type { FeatureIndex } from '../feature-index.ts';
import type { IndexFeed } from '../persistence/index-feed.ts';
import type { SuggestedPages } from '../persistence/suggested-page.ts';
import { type Bell, bellOf } from './bell.ts';
import { type Circuit, startCircuit } from './circuit.ts';
import { type IndexWork, startIndexKeeper } from './keep-index.ts';
import { meilisearchIndex } from './meilisearch-index.ts';
import { openServer } from './server.ts';
import { startWatch } from './watch.ts';

export interface MeilisearchOptions {
  readonly url: string;
  readonly key: string | undefined;
  /** the name of the index; while another is built, that bears it with `_next` behind */
  readonly uid: string;
  /** milliseconds that a search may take */
  readonly searchTimeoutMs: number;
  /** milliseconds between polls for changes of the table */
  readonly intervalMs: number;
  /** milliseconds between checks of an index that works and has nothing to follow */
  readonly checkIntervalMs: number;
  readonly feed: IndexFeed;
  readonly pages: SuggestedPages;
  readonly warn: (message: string) => void;
  readonly tell?: (done: IndexWork) => void;
  readonly circuitChanged?: (isOpen: boolean) => void;
}

export interface Meilisearch {
  readonly index: FeatureIndex;
  readonly circuit: Circuit;
  readonly bell: Bell;
  stop(): Promise<void>;
}

/** milliseconds that a write may take to be accepted: it is done later */
const writeTimeoutMs = 15_000;

/** The engine, and who keeps its index. */
export const startMeilisearch = (options: MeilisearchOptions): Meilisearch => {
  const { uid, feed, pages, warn, tell = () => undefined, circuitChanged = () => undefined } = options;
  const server = openServer({ ...options, writeTimeoutMs });
  const bell = bellOf();
  const circuit = startCircuit((isOpen) => {
    warn(isOpen ? 'Meilisearch fails: PostgreSQL answers searches.' : 'Meilisearch answers again.');
    circuitChanged(isOpen);
  });
  const watch = startWatch({ uid, feed, circuit, ring: () => bell.ring() });
  const keeper = startIndexKeeper({ ...options, server, watch, circuit, bell, tell });
  return { index: meilisearchIndex({ uid, server, watch, pages }), circuit, bell, stop: () => keeper.stop() };
};
