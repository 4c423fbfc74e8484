import type { Bus, CallContext } from '@bunting/bus';
import { type Change, CheckChanges, type CheckedChange } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { EnvironmentRef, ProposedChange } from '../../requests/change-request.ts';
import { earlierChangesForCheck } from '../../domain/content/earlier-changes-for-check.ts';
import { orderOfApplication } from '../../proposals/merge-change.ts';
import { toWireChange } from '../previews/wire-change.ts';
import { withPathsOfSingleChange } from '../../proposals/with-paths-of-single-change.ts';

interface UncheckedChanges {
  readonly changes: readonly Change[];
  /** the changes that the request has */
  readonly earlier: readonly ProposedChange[];
  /** the earlier change whose place the only new one takes; otherwise the rules for merging decide which changes are replaced */
  readonly replaced?: ProposedChange;
  /** whether the body is a list of changes, or a single one: a refusal names its paths */
  readonly isList: boolean;
}

/** Lets the features service check changes on top of the earlier ones that can affect them. */
export const checkProposedChanges = async (
  bus: Bus,
  { project, environment }: EnvironmentRef,
  { changes, earlier, replaced, isList }: UncheckedChanges,
  context: CallContext,
): Promise<readonly CheckedChange[]> => {
  const related = earlierChangesForCheck(changes, earlier);
  const order =
    replaced === undefined
      ? orderOfApplication(related, changes)
      : related.map((change, index) => (change === replaced ? related.length : index));
  const isAsListed = order.length === related.length + changes.length && order.every((index, place) => index === place);
  const body = {
    project,
    environment,
    changes: [...changes],
    earlier: related.map(toWireChange),
    ...(isAsListed ? {} : { order: [...order] }),
  };
  const checked = await call(bus, CheckChanges, { body }, context).catch((error: unknown) => {
    throw isList ? error : withPathsOfSingleChange(error);
  });
  return checked.changes;
};
