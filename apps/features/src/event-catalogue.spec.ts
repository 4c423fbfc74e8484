import { expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { eventTypes, httpOperations, isRead, serviceOf } from '@bunting/contracts';
import { applicationRows } from '../test/event-catalogue/applications.ts';
import { archiveRows } from '../test/event-catalogue/archive.ts';
import { contextFieldRows } from '../test/event-catalogue/context-fields.ts';
import { dependencyRows } from '../test/event-catalogue/dependencies.ts';
import { environmentRows } from '../test/event-catalogue/environments.ts';
import { favoriteRows } from '../test/event-catalogue/favorites.ts';
import { featureRows } from '../test/event-catalogue/features.ts';
import { projectRows } from '../test/event-catalogue/projects.ts';
import { segmentRows } from '../test/event-catalogue/segments.ts';
import { strategyRows } from '../test/event-catalogue/strategies.ts';
import { strategyTypeRows } from '../test/event-catalogue/strategy-types.ts';
import { tagRows } from '../test/event-catalogue/tags.ts';
import { usageRows } from '../test/event-catalogue/usage.ts';
import { variantRows } from '../test/event-catalogue/variants.ts';

// The rows of the nouns, which `<noun>.events.spec.ts` in the folder of each noun runs, taken together.
const rows = [
  ...featureRows,
  ...archiveRows,
  ...strategyRows,
  ...environmentRows,
  ...variantRows,
  ...tagRows,
  ...dependencyRows,
  ...favoriteRows,
  ...strategyTypeRows,
  ...segmentRows,
  ...contextFieldRows,
  ...projectRows,
  ...usageRows,
  ...applicationRows,
];

it('the event catalogue has a row for every write of the features service', () => {
  const writes = httpOperations.filter((operation) => serviceOf(operation) === 'features' && !isRead(operation));
  const covered = new Set(rows.flatMap(({ request }) => request.operations.map(({ subject }) => subject)));
  expect(writes.map(({ subject }) => subject).filter((subject) => !covered.has(subject))).toEqual([]);
});

it('the rows of every noun are run by a spec', () => {
  const files = (folder: string): string[] =>
    readdirSync(path.join(import.meta.dirname, folder), { encoding: 'utf8', recursive: true });
  const nouns = files('../../test/event-catalogue').filter((file) => file !== 'fixtures.ts');
  const sources = files('.')
    .filter((file) => file.endsWith('.events.spec.ts'))
    .map((file) => readFileSync(path.join(import.meta.dirname, file), 'utf8'));
  expect(nouns.filter((file) => !sources.some((source) => source.includes(`test/event-catalogue/${file}'`)))).toEqual(
    [],
  );
});

/** Event types of other services: access control, and change requests. */
const ofOtherServices =
  /^(change-|api-token-|pat-|public-signup-|user-|role-|group-|project-(access|user|group)-|setting-|service-account-)/;
/** Event types that the API lists and no service emits: those of Unleash's removed features and of its other editions. */
const neverEmitted = /^(drop-|addon-|banner-|signal-|actions-|client-|db-pool-)|-import$|^feature-updated$/;

it('the event catalogue lists every event type that the features service emits', () => {
  const emitted = new Set(rows.flatMap(({ emits }) => emits.map(({ type }) => type)));
  expect(eventTypes.filter((type) => emitted.has(type))).toEqual(
    eventTypes.filter((type) => !ofOtherServices.test(type) && !neverEmitted.test(type)),
  );
});
