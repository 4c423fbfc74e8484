import { describe, expect, it } from 'vitest';
import { eventTypes, httpOperations, isRead, serviceOf } from '@bunting/contracts';
import { describeRows } from './event-catalogue.ts';
import { applicationRows, usageRows } from './event-catalogue/usage.ts';
import { archiveRows, dependencyRows, favoriteRows } from './event-catalogue/archive.ts';
import { contextFieldRows, tagRows } from './event-catalogue/tags.ts';
import { environmentRows, projectRows } from './event-catalogue/projects.ts';
import { featureRows } from './event-catalogue/features.ts';
import { segmentRows } from './event-catalogue/segments.ts';
import { strategyRows, strategyTypeRows, variantRows } from './event-catalogue/strategies.ts';

const rowsByNoun = {
  features: featureRows,
  'archived features': archiveRows,
  strategies: strategyRows,
  environments: environmentRows,
  variants: variantRows,
  tags: tagRows,
  dependencies: dependencyRows,
  favorites: favoriteRows,
  'strategy types': strategyTypeRows,
  segments: segmentRows,
  'context fields': contextFieldRows,
  projects: projectRows,
  usage: usageRows,
  applications: applicationRows,
};
const rows = Object.values(rowsByNoun).flat();

describe.each(Object.entries(rowsByNoun))('of %s', (_noun, rowsOfNoun) => describeRows(rowsOfNoun));

it('the event catalogue has a row for every write of the features service', () => {
  const writes = httpOperations.filter((operation) => serviceOf(operation) === 'features' && !isRead(operation));
  const covered = new Set(rows.flatMap(({ request }) => request.operations.map(({ subject }) => subject)));
  expect(writes.map(({ subject }) => subject).filter((subject) => !covered.has(subject))).toEqual([]);
});

/** Event types of other services: access control, and change requests. */
const ofOtherServices =
  /^(slack-account-|change-|api-token-|pat-|public-signup-|user-|role-|group-|project-(access|user|group)-|setting-|service-account-)/;
/** Event types that the API lists and no service emits: those of Unleash's removed features and of its other editions. */
const neverEmitted = /^(drop-|addon-|banner-|signal-|actions-|client-|db-pool-)|-import$|^feature-updated$/;

it('the event catalogue lists every event type that the features service emits', () => {
  const emitted = new Set(rows.flatMap(({ emits }) => emits.map(({ type }) => type)));
  expect(eventTypes.filter((type) => emitted.has(type))).toEqual(
    eventTypes.filter((type) => !ofOtherServices.test(type) && !neverEmitted.test(type)),
  );
});
