import { type Bus, call, type CallContext } from '@bunting/bus';
import { type Change, CheckChanges, type CheckedChange } from '@bunting/contracts';
import type { EnvironmentRef, ProposedChange } from '../../domain/change-request.ts';
import { earlierChangesForCheck } from '../../domain/content/earlier-changes-for-check.ts';
import { toWireChange } from '../previews/wire-change.ts';
import { withPathsOfSingleChange } from './with-paths-of-single-change.ts';

interface UncheckedChanges {
  readonly changes: readonly Change[];
  /** the other changes of the request */
  readonly earlier: readonly ProposedChange[];
  /** whether the body is a list of changes, or a single one: a refusal names its paths */
  readonly isList: boolean;
}

/** Lets the features service check changes on top of the earlier ones that can affect them. */
export const checkChanges = async (
  bus: Bus,
  { project, environment }: EnvironmentRef,
  { changes, earlier, isList }: UncheckedChanges,
  context: CallContext,
): Promise<readonly CheckedChange[]> => {
  const body = {
    project,
    environment,
    changes: [...changes],
    earlier: earlierChangesForCheck(changes, earlier).map(toWireChange),
  };
  const checked = await call(bus, CheckChanges, { body }, context).catch((error: unknown) => {
    throw isList ? error : withPathsOfSingleChange(error);
  });
  return checked.changes;
};
