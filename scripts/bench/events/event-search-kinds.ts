import type { CallRequest } from '@bunting/bus';
import type { SearchEvents, SearchEventsBody } from '@bunting/contracts';
import {
  busyCreatorOf,
  busyFlagOf,
  busyPersonOf,
  busyProjectOf,
  dayOf,
  flagOf,
  projectOf,
  quietFlagOf,
  typeOf,
} from './generated-events.ts';

/** A kind of event search, which the bench repeats with different values: the nth search in a log of `size` events. */
export interface EventSearchKind {
  readonly name: string;
  readonly times: number;
  /** the body of `POST /api/admin/events/search` */
  readonly body?: (nth: number, size: number) => SearchEventsBody;
  /** the query of `GET /api/admin/search/events` */
  readonly query?: (nth: number, size: number) => CallRequest<typeof SearchEvents>['query'];
}

const numbersBelow = (below: number): number[] => Array.from({ length: below }, (_, nth) => nth);
const wordsOfFlags = [0, 1].flatMap((part) =>
  numbersBelow(10).map((nth) => flagOf(nth * 10 ** part).split('-')[part] ?? ''),
);

/** Texts that are in many events of any log, but in few different keys and values. Each is searched for once without a warm cache. */
const frequentTexts = [
  'flexible',
  'stickiness',
  'feature-',
  'strategy',
  'environment',
  'segment',
  'parameters',
  'constraints',
  'contextname',
  'userid',
  'simple:team',
  'platform',
  'tagged',
  'enabled',
  'disabled',
  'archived',
  'groupid',
  'default',
  'inverted',
  'updated',
  'values',
  'operator',
  'insensitive',
  'project',
  'title',
  'name',
  'created',
  'mobile',
  'growth',
  'core',
  'payments',
  'data',
  'false',
  'true',
  'team-',
  'impression',
  'stale',
  ...numbersBelow(16).map((nth) => busyPersonOf(nth).slice(0, 10)),
  ...numbersBelow(32).map((nth) => `rollout of ${busyFlagOf(nth)}`),
  'release',
  'kill-switch',
  'experiment',
  'operational',
  'permission',
  'quarter',
  'description',
  'feature',
];

/**
 * Texts in thousands or tens of thousands of different keys and values, at their beginning or elsewhere. The cost of a search grows
 * with the number of these keys and values. Each text is searched for once without a warm cache.
 */
const textsOfThousands = [
  'user-',
  'ser-',
  'rollout',
  'rollout of',
  'sees',
  'decides who',
  'person-',
  '@example',
  'of billing',
  '-000',
  'or did',
  ...numbersBelow(9).map((nth) => `user-${nth + 1}`),
  ...numbersBelow(40).map((nth) => `user-${10 + nth}`),
  ...wordsOfFlags.map((word) => `${word}-`),
  ...numbersBelow(10).map((nth) => `sees ${wordsOfFlags[nth]}`),
  ...numbersBelow(10).map((nth) => `${wordsOfFlags[10 + nth]} 00`),
];

/** Texts of one letter or two. Each is searched for once without a warm cache. */
const shortTexts = [
  ...'aeiorstnu059-@.',
  'er',
  'ro',
  'us',
  'in',
  'at',
  'te',
  'or',
  'on',
  '12',
  '00',
  '99',
  '-0',
  'r-',
].slice(0, 28);

const environmentOf = (nth: number): string => (nth % 2 === 0 ? 'production' : 'development');
const daysOf = (nth: number, size: number): string => dayOf((nth * 7919) % size);

/**
 * The searches of the bench. Most find a full page of a hundred events in each log, so that only the size of the log differs. The names of
 * searches that find fewer say so: quiet, rare or nowhere.
 */
export const eventSearchKinds: readonly EventSearchKind[] = [
  { name: 'newest', times: 500, body: () => ({}) },
  { name: 'by type', times: 500, body: (nth) => ({ type: typeOf(nth) }) },
  { name: 'by project', times: 500, body: (nth) => ({ project: busyProjectOf(nth) }) },
  { name: 'by feature', times: 500, body: (nth) => ({ feature: busyFlagOf(nth) }) },
  { name: 'by feature, a quiet one', times: 500, body: (nth) => ({ feature: quietFlagOf(nth) }) },
  { name: 'by feature, a quiet one, one row', times: 500, body: (nth) => ({ feature: quietFlagOf(nth), limit: 1 }) },
  {
    name: 'by project and type',
    times: 500,
    body: (nth) => ({ project: busyProjectOf(nth), type: 'feature-strategy-update' }),
  },
  { name: 'deep page', times: 500, body: (nth, size) => ({ offset: 100 + ((nth * 7919) % (size - 100)) }) },
  { name: 'text: a flag', times: 500, body: (nth) => ({ query: busyFlagOf(nth) }) },
  { name: 'text: a quiet flag, the first time', times: 500, body: (nth) => ({ query: quietFlagOf(nth) }) },
  { name: 'text: a person', times: 500, body: (nth) => ({ query: busyPersonOf(nth) }) },
  {
    name: 'text in a project',
    times: 500,
    body: (nth) => ({ project: busyProjectOf(nth), query: `rollout of ${flagOf(nth % 40).split('-')[0]}` }),
  },
  { name: 'text that is nowhere', times: 500, body: (nth) => ({ query: `nowhere ${nth}` }) },
  {
    name: 'frequent text, the first time',
    times: frequentTexts.length,
    body: (nth) => ({ query: frequentTexts[nth] as string }),
  },
  {
    name: 'frequent text, again',
    times: 500,
    body: (nth) => ({ query: frequentTexts[nth % frequentTexts.length] as string }),
  },
  {
    name: 'frequent text, deep page',
    times: 500,
    body: (nth, size) => ({
      query: frequentTexts[nth % frequentTexts.length] as string,
      offset: size / 2 + ((nth * 104729) % (size / 2)),
    }),
  },
  {
    name: 'text in thousands of names, the first time',
    times: textsOfThousands.length,
    body: (nth) => ({ query: textsOfThousands[nth] as string }),
  },
  {
    name: 'text of one letter or two, the first time',
    times: shortTexts.length,
    body: (nth) => ({ query: shortTexts[nth] as string }),
  },
  { name: 'by environment', times: 500, query: (nth) => ({ environment: `IS:${environmentOf(nth)}` }) },
  { name: 'by creator', times: 500, query: (nth) => ({ createdBy: `IS:${busyCreatorOf(nth)}` }) },
  {
    name: 'by day',
    times: 500,
    query: (nth, size) => ({ from: `IS:${daysOf(nth, size)}`, to: `IS:${daysOf(nth, size)}` }),
  },
  { name: 'since a day', times: 500, query: (nth, size) => ({ from: `IS:${daysOf(nth, size)}` }) },
  {
    name: 'by environment, creator, day and text',
    times: 500,
    query: (nth, size) => ({
      environment: `IS:${environmentOf(nth)}`,
      createdBy: `IS_ANY_OF:${busyCreatorOf(nth)},${busyCreatorOf(Math.floor(nth / 16) + 5)}`,
      from: `IS:${dayOf(Math.floor((nth * 7919) % (size / 4)))}`,
      query: frequentTexts[nth % frequentTexts.length] as string,
    }),
  },
  {
    name: 'by project, feature and text, each another one',
    times: 500,
    query: (nth) => ({
      project: `IS_ANY_OF:${projectOf(nth)},${busyProjectOf(nth * 7)}`,
      feature: `IS_ANY_OF:${quietFlagOf(nth)},${busyFlagOf(nth)}`,
      query: 'rollout',
    }),
  },
  {
    name: 'row by row, deep',
    times: 500,
    query: (nth, size) => ({ type: `IS:${typeOf(nth)}`, offset: String((nth * 104729) % (size / 40)) }),
  },
];
