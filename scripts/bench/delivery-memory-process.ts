// Run with --expose-gc, in a process of its own: prints the memory of the store with N flags in two environments, as JSON.
import type { DeliveryState, OutboxMessage } from '@bunting/contracts';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { deliveryStore, deliveryView } from '@bunting/delivery';
import { benchFlag } from './generated-flags.ts';

/** The memory of a process in MiB, rounded. */
export interface DeliveryMemory {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
}

const pageSize = 1_000;
const environments = ['development', 'production'];

const environmentRows = environments.flatMap((environment, sortOrder): DeliveryState[] => [
  { entity: 'environment', id: environment, state: { name: environment, enabled: true, sortOrder } },
  {
    entity: 'project-environment',
    id: `default ${environment}`,
    state: { project: 'default', environment },
  },
]);

function featureRow(nth: number): DeliveryState {
  const { name, type, description, tags, strategies } = benchFlag(nth);
  const setting = (enabled: boolean) => ({
    enabled,
    strategies: strategies.map((strategy) => ({ variants: [], ...strategy })),
    variants: [],
  });
  const state = {
    name,
    type,
    description,
    tags,
    project: 'default',
    archived: false,
    stale: false,
    impressionData: false,
    dependencies: [],
    environments: { development: setting(nth % 2 === 0), production: setting(false) },
  };
  return { entity: 'feature', id: name, state } as DeliveryState;
}

async function measureMemory(): Promise<DeliveryMemory> {
  // Buffers of compressions are released in later iterations of the event loop, and memory outside of the heap by a second collection.
  for (let collections = 0; collections < 3; collections++) {
    await nextIteration();
    globalThis.gc?.();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const [heapMb, externalMb, residentMb] = [heapUsed, external, rss].map((bytes) => Math.round(bytes / 1024 / 1024));
  return { heapUsed: heapMb ?? 0, external: externalMb ?? 0, rss: residentMb ?? 0 };
}
function difference(before: DeliveryMemory, after: DeliveryMemory): DeliveryMemory {
  return {
    heapUsed: after.heapUsed - before.heapUsed,
    external: after.external - before.external,
    rss: after.rss - before.rss,
  };
}

const count = Number(process.argv[2]);
const store = deliveryStore();
let position = 0;
function apply(states: readonly DeliveryState[]): void {
  // Through JSON, as the bus delivers them.
  const rows = JSON.parse(JSON.stringify(states)) as DeliveryState[];
  const messages = rows.map((payload) => ({ position: ++position, payload }) as OutboxMessage);
  store.apply(messages, position, position >= count + environmentRows.length);
}

const before = await measureMemory();
apply(environmentRows);
for (let first = 0; first < count; first += pageSize) {
  apply(Array.from({ length: Math.min(pageSize, count - first) }, (_, nth) => featureRow(first + nth)));
}
const stored = difference(before, await measureMemory());
const views = environments.map((environment) => deliveryView(store, { environment, inlineSegments: false }));
for (const view of views) await view.full('gzip');
console.log(JSON.stringify({ stored, served: difference(before, await measureMemory()) }));
// The views are used here so that they are not garbage-collected before the memory is measured.
if (views.some((view) => view.bytes === 0)) throw new Error('A view keeps nothing.');
