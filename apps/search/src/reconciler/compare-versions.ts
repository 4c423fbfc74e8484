import type { StateVersion } from '@bunting/contracts';
import type { StateDigest } from '../persistence/reconciliation-repository.ts';

/**
 * Compares ids in the order of the pages of both services, which is that of `collate "C"`: by UTF-8 bytes. `<` compares UTF-16 code units,
 * and so has characters beyond U+FFFF before some of those that PostgreSQL has before them.
 */
const compareAsCollateC = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Two pages, reduced to the range of ids that both cover. */
export interface CommonRange {
  readonly expected: readonly StateVersion[];
  readonly actual: readonly StateVersion[];
  /** the last id of the range; undefined if both pages are the last ones */
  readonly end: string | undefined;
}

/** Reduces two pages to their common range: up to the smaller last id of the full pages. A page that is not full is the last one. */
export const commonRangeOf = (
  expected: readonly StateVersion[],
  actual: readonly StateVersion[],
  pageSize: number,
): CommonRange => {
  const lastIds = [expected, actual].flatMap((page) => (page.length < pageSize ? [] : [page.at(-1)?.id ?? '']));
  const [end] = lastIds.toSorted(compareAsCollateC);
  const inRange = (page: readonly StateVersion[]) =>
    end === undefined ? page : page.filter(({ id }) => compareAsCollateC(id, end) <= 0);
  return { expected: inRange(expected), actual: inRange(actual), end };
};

/** The ids that only one side has, or that the sides have in different versions. */
export const differingIds = (expected: readonly StateVersion[], actual: readonly StateVersion[]): string[] => {
  const versions = new Map(expected.map(({ id, version }) => [id, version]));
  const changed = actual.filter(({ id, version }) => versions.get(id) !== version).map(({ id }) => id);
  for (const { id } of actual) versions.delete(id);
  return [...changed, ...versions.keys()];
};

/** The groups whose numbers of states or digests differ. A group without states is the same as none. */
export const differingGroups = (expected: readonly StateDigest[], actual: readonly StateDigest[]): string[] => {
  const summaries = [expected, actual].map(
    (groups) =>
      new Map(
        groups
          .filter(({ count }) => count > 0)
          .map(({ group, count, digest }) => [group, `${count} ${digest}`] as const),
      ),
  ) as [Map<string, string>, Map<string, string>];
  const groups = new Set(summaries.flatMap((summary) => [...summary.keys()]));
  return [...groups].filter((group) => summaries[0].get(group) !== summaries[1].get(group));
};
