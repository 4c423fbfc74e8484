import { type BenchFlag, benchFlag, exportOf } from '../generated-flags.ts';
import type { ServerUnderTest } from './server-under-test.ts';

const environment = 'development';
const atOnce = 8;
const perImport = 1_000;

const send = async (
  { url, token }: ServerUnderTest,
  method: string,
  path: string,
  body: unknown,
  accepted: readonly number[],
): Promise<Response> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok && !accepted.includes(response.status)) {
    throw new Error(`${method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  }
  await response.arrayBuffer();
  return response;
};

const createOne = async (target: ServerUnderTest, flag: BenchFlag): Promise<void> => {
  const feature = `/api/admin/projects/default/features`;
  await send(target, 'POST', feature, { name: flag.name, type: flag.type, description: flag.description }, [409]);
  for (const strategy of flag.strategies) {
    await send(target, 'POST', `${feature}/${flag.name}/environments/${environment}/strategies`, strategy, []);
  }
  for (const tag of flag.tags) await send(target, 'POST', `/api/admin/features/${flag.name}/tags`, tag, []);
};

/**
 * Creates `count` flags from number `first` on (imports only), by the import of Bunting or one by one, as any server of this API accepts them.
 * @param flagOf the flag of a number (imports only)
 */
export const seedFlags = async (
  target: ServerUnderTest,
  count: number,
  how: 'import' | 'rest',
  progress: (done: number) => void,
  first = 0,
  flagOf = benchFlag,
): Promise<void> => {
  if (how === 'import') {
    for (let from = 0; from < count; from += perImport) {
      const flags = Array.from({ length: Math.min(perImport, count - from) }, (_, index) =>
        flagOf(first + from + index),
      );
      const body = { project: 'default', environment, data: exportOf(flags, environment) };
      await send(target, 'POST', '/api/admin/features-batch/import', body, []);
      progress(from + flags.length);
    }
    return;
  }
  let next = 0;
  const work = async () => {
    while (next < count) {
      const nth = next++;
      await createOne(target, benchFlag(nth));
      if (nth % 250 === 0) progress(nth);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  progress(count);
};

/** The ids of the strategies of some of the flags, spread over all of them. */
export const fetchStrategyIds = async (
  target: ServerUnderTest,
  count: number,
  wanted: number,
): Promise<{ feature: string; id: string }[]> => {
  const step = Math.max(1, Math.floor(count / wanted));
  const found: { feature: string; id: string }[] = [];
  for (let nth = 0; nth < count && found.length < wanted; nth += step) {
    const feature = benchFlag(nth).name;
    const response = await fetch(`${target.url}/api/admin/projects/default/features/${feature}`, {
      headers: { authorization: target.token },
    });
    const { environments } = (await response.json()) as {
      environments: { name: string; strategies: { id: string }[] }[];
    };
    const id = environments.find(({ name }) => name === environment)?.strategies[0]?.id;
    if (id !== undefined) found.push({ feature, id });
  }
  return found;
};
