import { adminTokenUserId, type Caller, type Event, maySee } from '@bunting/contracts';
import { isInScope, selects, type Target } from '../addons/addon.ts';
import type { LogPage } from './log-position.ts';

type LogEntry = LogPage['events'][number];

/** The rights that a user has now; undefined for one who is deleted or disabled. */
export type RightsOf = (userId: number) => Promise<Caller | undefined>;

/**
 * What an integration is told of the events of a page: undefined for those that it does not select. An event that names another project, such as
 * the move of a flag, says nothing of it unless the integration selects that project, or whoever set it up may see it.
 * @param rightsOf is asked for such events alone
 */
export async function eventsTold(
  target: Target,
  entries: readonly LogEntry[],
  rightsOf: RightsOf,
): Promise<readonly (Event | undefined)[]> {
  const { setUpBy } = target;
  const selected = entries.map((entry) => (selects(target, entry.event) ? entry : undefined));
  const unselectedIn = (entry: LogEntry | undefined): readonly string[] =>
    entry?.limited?.projects.filter((project) => !isInScope(target, { project })) ?? [];
  const isAsked = setUpBy !== null && selected.some((entry) => unselectedIn(entry).length > 0);
  const seesAll = setUpBy === adminTokenUserId;
  const rights = isAsked && !seesAll ? await rightsOf(setUpBy) : undefined;
  const sees = (project: string): boolean => seesAll || (rights !== undefined && maySee(rights, project));
  return selected.map((entry) =>
    entry?.limited === undefined || unselectedIn(entry).every(sees) ? entry?.event : entry.limited.event,
  );
}
