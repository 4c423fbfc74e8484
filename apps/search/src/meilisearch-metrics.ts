import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { IndexWork } from './meilisearch/keep-index.ts';
import type { AnsweredBy } from './two-engines.ts';

/** What is measured of the two engines. */
export interface MeilisearchMetrics {
  answered(by: AnsweredBy): void;
  circuitChanged(isOpen: boolean): void;
  tell(done: IndexWork): void;
}

/** Registers what is measured when there is a Meilisearch. */
export const meilisearchMetrics = (registry: Registry): MeilisearchMetrics => {
  const registers = [registry];
  const answers = new Counter({
    name: 'bunting_search_answers_total',
    help: 'searches by the engine that answered, and why it was not Meilisearch',
    labelNames: ['engine', 'reason'],
    registers,
  });
  const open = new Gauge({
    name: 'bunting_search_circuit_open',
    help: '1 while Meilisearch is not asked, because it fails',
    registers,
  });
  const documents = new Counter({
    name: 'bunting_search_index_documents_total',
    help: 'documents that were written to Meilisearch or compared with it',
    labelNames: ['work'],
    registers,
  });
  const builds = new Histogram({
    name: 'bunting_search_index_build_seconds',
    help: 'how long it took to build the index anew',
    buckets: [1, 5, 15, 60, 300, 1_800],
    registers,
  });
  open.set(0);
  return {
    answered: (by) => answers.inc({ engine: by.engine, reason: by.engine === 'postgres' ? by.reason : '' }),
    circuitChanged: (isOpen) => open.set(isOpen ? 1 : 0),
    tell: (done) => {
      if (done.kind === 'building') return;
      documents.inc({ work: done.kind }, done.documents);
      if (done.kind === 'built') builds.observe(done.durationMs / 1_000);
    },
  };
};
