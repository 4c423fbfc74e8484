import { type Finding, passedCheck, failedCheck } from './finding.ts';

const timeoutMs = 5_000;
const untilThen = 'until then PostgreSQL answers searches.';

const adviceFor = (status: number): string =>
  status === 401 || status === 403
    ? 'Correct MEILI_KEY'
    : status >= 500 || status === 429
      ? 'Look at its log, and at what is in front of it'
      : 'Correct MEILI_URL: there is no Meilisearch';

/** What the answer of a server to `GET /version` says about Meilisearch. */
export const findingOfVersion = (url: string, status: number, body: string): Finding => {
  if (status < 200 || status >= 300)
    return failedCheck('Meilisearch', `${url} answers ${status}. ${adviceFor(status)}; ${untilThen}`);
  const version = /"pkgVersion"\s*:\s*"([^"]*)"/.exec(body)?.[1];
  return version === undefined
    ? failedCheck('Meilisearch', `${url} answers without a version. ${adviceFor(404)}; ${untilThen}`)
    : passedCheck('Meilisearch', `version ${version}`);
};

/** Checks whether Meilisearch responds, and accepts the key. */
export const checkMeilisearch = async (url: string, key: string | undefined): Promise<Finding> => {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(new URL('/version', url), { headers, signal });
    return findingOfVersion(url, response.status, await response.text());
  } catch {
    return failedCheck('Meilisearch', `${url} does not answer. Start it or correct MEILI_URL; ${untilThen}`);
  }
};
