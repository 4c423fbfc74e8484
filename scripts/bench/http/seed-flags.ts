import { type BenchFlag, benchFlag, exportOf } from '../generated-flags.ts';
import type { ServerUnderTest } from './server-under-test.ts';

const environment = 'development';
const concurrency = 8;
const importBatchSize = 1_000;

interface SeedRequest {
  readonly path: string;
  readonly body: unknown;
  /** the statuses of errors that are ignored */
  readonly ignoredErrorStatuses?: readonly number[];
}

const send = async (
  { url, token }: ServerUnderTest,
  { path, body, ignoredErrorStatuses = [] }: SeedRequest,
): Promise<Response> => {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok && !ignoredErrorStatuses.includes(response.status)) {
    throw new Error(`POST ${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  }
  await response.arrayBuffer();
  return response;
};

const createFlag = async (target: ServerUnderTest, flag: BenchFlag): Promise<void> => {
  const features = '/api/admin/projects/default/features';
  const body = { name: flag.name, type: flag.type, description: flag.description };
  await send(target, { path: features, body, ignoredErrorStatuses: [409] });
  for (const strategy of flag.strategies) {
    await send(target, { path: `${features}/${flag.name}/environments/${environment}/strategies`, body: strategy });
  }
  for (const tag of flag.tags) await send(target, { path: `/api/admin/features/${flag.name}/tags`, body: tag });
};

interface SeedOptions {
  readonly count: number;
  /** `import`: by Bunting's import; `rest`: one by one through the REST API, which other servers have as well */
  readonly how: 'import' | 'rest';
  /** the number of the first flag (imports only) */
  readonly first?: number;
  /** the flag of a number (imports only) */
  readonly flagOf?: (nth: number) => BenchFlag;
}

/** Creates flags, and reports how many are done. */
export const seedFlags = async (
  target: ServerUnderTest,
  { count, how, first = 0, flagOf = benchFlag }: SeedOptions,
  progress: (done: number) => void = () => undefined,
): Promise<void> => {
  if (how === 'import') {
    for (let from = 0; from < count; from += importBatchSize) {
      const flags = Array.from({ length: Math.min(importBatchSize, count - from) }, (_, index) =>
        flagOf(first + from + index),
      );
      const body = { project: 'default', environment, data: exportOf(flags, environment) };
      await send(target, { path: '/api/admin/features-batch/import', body });
      progress(from + flags.length);
    }
    return;
  }
  let next = 0;
  const createFlags = async () => {
    while (next < count) {
      const nth = next++;
      await createFlag(target, benchFlag(nth));
      if (nth % 250 === 0) progress(nth);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, createFlags));
  progress(count);
};

/** The ids of the first strategies of at most `limit` flags, which are spread over all flags. */
export const fetchStrategyIds = async (
  target: ServerUnderTest,
  count: number,
  limit: number,
): Promise<{ feature: string; id: string }[]> => {
  const step = Math.max(1, Math.floor(count / limit));
  const strategies: { feature: string; id: string }[] = [];
  for (let nth = 0; nth < count && strategies.length < limit; nth += step) {
    const feature = benchFlag(nth).name;
    const response = await fetch(`${target.url}/api/admin/projects/default/features/${feature}`, {
      headers: { authorization: target.token },
    });
    const { environments } = (await response.json()) as {
      environments: { name: string; strategies: { id: string }[] }[];
    };
    const id = environments.find(({ name }) => name === environment)?.strategies[0]?.id;
    if (id !== undefined) strategies.push({ feature, id });
  }
  return strategies;
};
