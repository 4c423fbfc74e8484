import { type Finding, passedCheck, failedCheck } from './finding.ts';

const timeoutMs = 5_000;

/** Checks whether Meilisearch responds, and accepts the key. */
export const checkMeilisearch = async (url: string, key: string | undefined): Promise<Finding> => {
  try {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(new URL('/version', url), { headers, signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok)
      return failedCheck(
        'Meilisearch',
        `${url} answers ${response.status}. Correct MEILI_KEY; until then PostgreSQL answers searches.`,
      );
    const { pkgVersion = 'unknown' } = (await response.json()) as { pkgVersion?: string };
    return passedCheck('Meilisearch', `version ${pkgVersion}`);
  } catch {
    return failedCheck(
      'Meilisearch',
      `${url} does not answer. Start it or correct MEILI_URL; until then PostgreSQL answers searches.`,
    );
  }
};
