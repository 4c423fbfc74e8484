import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { FuzzyEngine } from './with-meilisearch-ranking.ts';
import type { IndexUpdate } from '../index/background.ts';

/** Registers the metrics of Meilisearch. */
export const meilisearchMetrics = (registry: Registry) => {
  const registers = [registry];
  const searches = new Counter({
    name: 'bunting_search_answers_total',
    help: 'fuzzy searches by the engine that compared the texts, and why it was not Meilisearch',
    labelNames: ['engine', 'reason'],
    registers,
  });
  const openCircuit = new Gauge({
    name: 'bunting_search_circuit_open',
    help: '1 while the circuit breaker lets no search through to Meilisearch',
    registers,
  });
  const documents = new Counter({
    name: 'bunting_search_index_documents_total',
    help: 'documents that were written to Meilisearch or removed from it',
    labelNames: ['work'],
    registers,
  });
  const builds = new Histogram({
    name: 'bunting_search_index_build_seconds',
    help: 'how long it took to build the index',
    buckets: [1, 5, 15, 60, 300, 1_800],
    registers,
  });
  openCircuit.set(0);
  return {
    recordSearch: (engine: FuzzyEngine): void =>
      searches.inc({ engine: engine.engine, reason: engine.engine === 'postgres' ? engine.reason : '' }),
    circuitChanged: (isOpen: boolean): void => openCircuit.set(isOpen ? 1 : 0),
    recordUpdate: (update: IndexUpdate): void => {
      if (update.kind === 'checked') return;
      documents.inc({ work: update.kind }, update.documents);
      if (update.kind === 'built') builds.observe(update.durationMs / 1_000);
    },
  };
};
