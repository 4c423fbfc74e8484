import {
  type Bus,
  callForResponse,
  type CallResponse,
  deserializeRefusal,
  openBus,
  traceparentFrom,
} from '@bunting/bus';
import {
  type Caller,
  type FeatureSuggestions,
  type RequestOf,
  SearchFeatures,
  type SearchFeaturesResponse,
  SuggestFeatures,
} from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { host, openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { searchMigrations } from '../src/migrations/index.ts';
import { searchService } from '../src/service.ts';
import { type FeaturesProducer, startFeaturesProducer } from './features-producer.ts';

type SearchParameters = RequestOf<typeof SearchFeatures>['query'];

export const mia: Caller = { id: 7, name: 'mia', grants: [{ permission: 'ADMIN' }] };

export interface StartedSearch {
  readonly features: FeaturesProducer;
  readonly bus: Bus;
  /** the database of the service, for data that no operation returns */
  readonly database: Database;
  /** Searches. @throws if the search is refused */
  search(query?: SearchParameters, caller?: Caller): Promise<SearchFeaturesResponse>;
  /** The names of the features that a search finds. */
  names(query?: SearchParameters, caller?: Caller): Promise<string[]>;
  /** Searches, and returns the response, with headers or a refusal. */
  respond(query: SearchParameters, caller?: Caller): Promise<CallResponse>;
  /** Asks for suggestions. @throws if the request is refused */
  suggest(query?: SuggestionParameters, caller?: Caller): Promise<FeatureSuggestions>;
  /** Asks for suggestions, and returns the response, with headers or a refusal. */
  respondToSuggest(query: SuggestionParameters, caller?: Caller): Promise<CallResponse>;
  stop(): Promise<void>;
}

type SuggestionParameters = RequestOf<typeof SuggestFeatures>['query'];

async function migrate(url: string): Promise<void> {
  return (await openDatabase({ url, name: 'template', migrations: searchMigrations })).close();
}

/** The search service on its own database, with replies validated against their schemas, and a producer of features. */
export async function startSearch(settings: Readonly<Record<string, string>> = {}): Promise<StartedSearch> {
  const fresh = await freshDatabase('search', { key: JSON.stringify(searchMigrations), migrate });
  const environment = {
    SEARCH_DATABASE_URL: fresh.url,
    CHECK_REPLIES: 'true',
    SEARCH_FRESHNESS_WAIT_MS: '30000',
    ...settings,
  };
  const hosted = await host([searchService], { environment, log: openLog('silent') });
  const { BUS_URL: busUrl, BUS_CALLER_KEY: privateKey } = settings;
  const bus = busUrl === undefined ? hosted.bus : await openBus(busUrl, { name: 'spec', callerKeys: { privateKey } });
  const features = await startFeaturesProducer(bus);
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: searchMigrations });

  const started: StartedSearch = {
    features,
    bus,
    database,
    respond: (query, caller = mia) =>
      callForResponse(
        bus,
        SearchFeatures,
        { query },
        { caller, requestId: randomUUID(), traceparent: traceparentFrom(), timeoutMs: 60_000 },
      ),
    search: async (query = {}, caller = mia) => {
      const answer = await started.respond(query, caller);
      if ('refusal' in answer) throw deserializeRefusal(answer.refusal);
      return JSON.parse(answer.reply.json) as SearchFeaturesResponse;
    },
    respondToSuggest: (query, caller = mia) => {
      const context = { caller, requestId: randomUUID(), traceparent: traceparentFrom(), timeoutMs: 60_000 };
      return callForResponse(bus, SuggestFeatures, { query }, context);
    },
    suggest: async (query = {}, caller = mia) => {
      const answer = await started.respondToSuggest(query, caller);
      if ('refusal' in answer) throw deserializeRefusal(answer.refusal);
      return JSON.parse(answer.reply.json) as FeatureSuggestions;
    },
    names: async (query, caller) => (await started.search(query, caller)).features.map(({ name }) => name),
    stop: async () => {
      await features.stop();
      await hosted.stop();
      if (bus !== hosted.bus) await bus.close();
      await database.close();
      await fresh.drop();
    },
  };
  return started;
}

/** The search service: started before the tests of a spec file or of a `describe`, and stopped after them. */
export function startedSearch(settings?: Readonly<Record<string, string>>): StartedSearch {
  let search: StartedSearch | undefined;
  beforeAll(async () => {
    search = await startSearch(settings);
  });
  afterAll(() => search?.stop());
  return new Proxy({} as StartedSearch, { get: (_, name) => Reflect.get(search ?? {}, name) as unknown });
}
