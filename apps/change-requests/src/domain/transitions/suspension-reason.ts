import { type ChangeRequestPreview, type ConflictCode, overwriteMessage } from '@bunting/contracts';
import type { ChangeRequest, ProposedChange } from '../../requests/change-request.ts';
import { payloadIdOf } from '../../proposals/proposed-change.ts';

/** By the code of a conflict that concerns a whole feature. */
const featureReasons: Readonly<Partial<Record<ConflictCode, (name: string, request: ChangeRequest) => string>>> = {
  'feature-archived': (name) => `Feature flag ${name} was archived`,
  'feature-deleted': (name) => `Feature flag ${name} was deleted`,
  'feature-moved': (name) => `Feature flag ${name} was moved to another project`,
  'environment-unlinked': (_, { environment, project }) =>
    `Environment ${environment} was removed from project ${project}`,
};

const conflictReason = (change: ProposedChange, code: ConflictCode | undefined, text: string): string => {
  if (code === 'strategy-deleted')
    return `Strategy ${String(payloadIdOf(change.payload))} of feature flag ${change.feature} was deleted`;
  if (code === 'segment-missing' && change.segment !== null) {
    return `Segment ${change.segment.id} (${change.segment.name}) was deleted`;
  }
  return text;
};

/** The first reason in a preview to suspend a scheduled request; undefined if there is none. */
export const suspensionReason = (
  request: ChangeRequest,
  { features, segments }: ChangeRequestPreview,
): string | undefined => {
  const changeOf = (id: number) => request.changes.find((change) => change.id === id);
  for (const { name, conflict, conflictCode } of features) {
    if (conflict === undefined) continue;
    const reasonOf = conflictCode === undefined ? undefined : featureReasons[conflictCode];
    return reasonOf?.(name, request) ?? conflict;
  }
  const previewed = [...features, ...segments].flatMap(({ changes }) => changes);
  for (const { id, conflict, conflictCode } of previewed) {
    const change = changeOf(id);
    if (conflict !== undefined && change !== undefined) return conflictReason(change, conflictCode, conflict);
  }
  for (const { id, overwrites } of previewed) {
    const change = changeOf(id);
    if (overwrites !== undefined && change !== undefined) return overwriteMessage(change, request.environment);
  }
  return undefined;
};
