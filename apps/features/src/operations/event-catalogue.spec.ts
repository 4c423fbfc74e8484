import { expect, it } from '@jest/globals';
import { eventTypes, httpOperations, serviceOf } from '@bunting/contracts';
import { applicationRows } from '../../test/event-catalogue/applications.ts';
import { archiveRows } from '../../test/event-catalogue/archive.ts';
import { contextFieldRows } from '../../test/event-catalogue/context-fields.ts';
import { dependencyRows } from '../../test/event-catalogue/dependencies.ts';
import { environmentRows } from '../../test/event-catalogue/environments.ts';
import { favoriteRows } from '../../test/event-catalogue/favorites.ts';
import { featureRows } from '../../test/event-catalogue/features.ts';
import { projectRows } from '../../test/event-catalogue/projects.ts';
import { segmentRows } from '../../test/event-catalogue/segments.ts';
import { strategyRows } from '../../test/event-catalogue/strategies.ts';
import { strategyTypeRows } from '../../test/event-catalogue/strategy-types.ts';
import { tagRows } from '../../test/event-catalogue/tags.ts';
import { usageRows } from '../../test/event-catalogue/usage.ts';
import { variantRows } from '../../test/event-catalogue/variants.ts';

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

/** Operations that use POST and change nothing. */
const withoutEffect = /^call\.features\.(validate-.*|list-.*|get-.*|evaluate-.*)$/;

it('the event catalogue has a row for every write of the features service', () => {
  const writes = httpOperations.filter(
    (operation) => operation.http?.method !== 'GET' && serviceOf(operation) === 'features',
  );
  const effective = writes.map(({ subject }) => subject).filter((subject) => !withoutEffect.test(subject));
  const covered = new Set(rows.flatMap(({ request }) => request.operations.map(({ subject }) => subject)));
  expect(effective.filter((subject) => !covered.has(subject))).toEqual([]);
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
