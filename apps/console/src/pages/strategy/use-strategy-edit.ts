import {
  type FeatureChange,
  type FeatureStrategy,
  GetStrategy,
  isEqual,
  type Json,
  type MergeConflict,
  threeWayMerge,
} from '@bunting/contracts';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { callWithEntityTag } from '../../api/call.ts';
import { useEventFeed } from '../../api/event-feed.ts';
import { continueLastWrite } from '../../api/last-write.ts';
import { useMe } from '../../api/queries-and-mutations.ts';
import { propose } from '../../changes/propose.ts';
import { notifySubmitted, type SubmitOutcome, useSubmitChanges } from '../../changes/submit-changes.ts';
import { notifyError } from '../../shell/toasts.tsx';
import {
  newStrategyDraft,
  strategyBodyOf,
  type StrategyDraft,
  strategyDraftOf,
  strategyUpdateOf,
} from '../../strategies/strategy-draft.ts';

/** The environment of a flag to which a strategy belongs. */
export interface StrategyLocation {
  readonly project: string;
  readonly feature: string;
  readonly environment: string;
}

export interface LoadedStrategy {
  /** the strategy as it was read; undefined for a new one */
  readonly stored: FeatureStrategy | undefined;
  readonly entityTag: string | undefined;
  /** the share of users with which a new strategy begins, in percent */
  readonly firstRollout: number;
}

/** A stored strategy as a draft, with the entity tag of that state. */
interface StoredDraft {
  readonly draft: StrategyDraft;
  readonly entityTag: string | undefined;
}

/** An edit of the strategy that was saved since its page began to read it. */
export interface SavedEdit {
  readonly eventId: number;
  readonly createdBy: string;
  readonly createdByUserId?: number | null | undefined;
  /** when it was saved */
  readonly at: string;
  /** the strategy as it was saved; undefined where it was deleted */
  readonly saved: FeatureStrategy | undefined;
}

interface EditConflict {
  readonly merged: Json;
  readonly conflicts: readonly MergeConflict[];
  /** the state that another person has saved */
  readonly current: StoredDraft;
  /** the newest edit that was known before that state was read */
  readonly knownEdit: SavedEdit | undefined;
}

/** The newest edit of a strategy of which the event feed has told. A page calls it before it has read the strategy. */
export function useNewestEdit({ feature, environment }: StrategyLocation, strategyId: string): SavedEdit | undefined {
  const [newest, setNewest] = useState<SavedEdit>();
  useEventFeed(
    ({ id: eventId, type, featureName, environment: place, createdBy, createdByUserId, createdAt, ...event }) => {
      const subject =
        type === 'feature-strategy-update' ? event.data : type === 'feature-strategy-remove' ? event.preData : null;
      if (featureName !== feature || place !== environment || subject?.['id'] !== strategyId) return;
      const saved = type === 'feature-strategy-update' ? (event.data as FeatureStrategy) : undefined;
      setNewest({ eventId, createdBy, createdByUserId, at: createdAt, saved });
    },
  );
  return newest;
}

/** Whether a draft is what an edit has saved. */
function isDraftOf({ saved }: SavedEdit, draft: StrategyDraft | undefined): boolean {
  if (saved === undefined || draft === undefined) return false;
  return isEqual(strategyBodyOf(strategyDraftOf(saved)), strategyBodyOf(draft));
}

/**
 * The edit of one strategy. Where another person has saved the strategy meanwhile, `save` merges both edits by field.
 * @param newestEdit of `useNewestEdit`; it may be part of what was read
 */
export function useStrategyEdit(
  strategyLocation: StrategyLocation,
  { stored, entityTag, firstRollout }: LoadedStrategy,
  newestEdit: SavedEdit | undefined,
) {
  const { project, feature, environment } = strategyLocation;
  const [base, setBase] = useState<Partial<StoredDraft>>({
    ...(stored && { draft: strategyDraftOf(stored) }),
    entityTag,
  });
  const [draft, setDraftState] = useState<StrategyDraft>(() => base.draft ?? newStrategyDraft(feature, firstRollout));
  /** the draft as it is now, also for what began at an earlier render: the form can be edited while the server is asked */
  const latestDraft = useRef(draft);
  const setDraft = (changedDraft: StrategyDraft): void => {
    latestDraft.current = changedDraft;
    setDraftState(changedDraft);
  };
  const [isSaved, setSaved] = useState(false);
  const [wasMerged, setMerged] = useState(false);
  const [conflict, setConflict] = useState<EditConflict>();
  const [mergedEdit, setMergedEdit] = useState<SavedEdit>();
  const latestEdit = useRef(newestEdit);
  useEffect(() => {
    latestEdit.current = newestEdit;
  });
  const navigate = useNavigate();
  const submitChanges = useSubmitChanges(project);

  const id = stored?.id;
  const userId = useMe().data?.user.id;
  const isKnown =
    newestEdit === undefined ||
    newestEdit.eventId === mergedEdit?.eventId ||
    isDraftOf(newestEdit, base.draft) ||
    // The user's own save comes back as an event as well, maybe before its response.
    isSaved ||
    (submitChanges.isPending && newestEdit.createdByUserId === userId);
  const payload = strategyBodyOf(draft);
  const change: FeatureChange =
    id === undefined
      ? { action: 'addStrategy', feature, payload }
      : {
          action: 'updateStrategy',
          feature,
          payload: { id, ...(base.draft === undefined ? payload : strategyUpdateOf(payload, base.draft)) },
        };
  const isChanged = base.draft === undefined || !isEqual(base.draft, draft);

  const edit = (editedDraft: StrategyDraft): void => {
    submitChanges.reset();
    setDraft(editedDraft);
  };

  /** Continues with a merged edit. Its base is the stored state that it was merged with: the next save does not conflict with it. */
  const adopt = (merged: Json, current: StoredDraft, knownEdit: SavedEdit | undefined): void => {
    setBase(current);
    setDraft(merged as StrategyDraft);
    setMerged(true);
    setConflict(undefined);
    // An edit of which this page heard after it had asked for the stored state may not be part of that.
    setMergedEdit(knownEdit);
  };

  /** Merges the draft with what is stored. A failure is told. */
  const mergeWithStored = async (): Promise<void> => {
    if (base.draft === undefined || id === undefined) return;
    const params = { projectId: project, featureName: feature, environment, strategyId: id };
    const knownEdit = latestEdit.current;
    try {
      const theirs = await callWithEntityTag(GetStrategy, { params });
      const current = { draft: strategyDraftOf(theirs.value), entityTag: theirs.entityTag };
      const { merged, conflicts } = threeWayMerge(base.draft, latestDraft.current, current.draft);
      if (conflicts.length > 0) setConflict({ merged: merged as Json, conflicts, current, knownEdit });
      else adopt(merged as Json, current, knownEdit);
    } catch (error) {
      notifyError(error);
    }
  };

  /** Turns the flag on as well, after the strategy was saved or proposed. @returns whether that succeeded; a failure is told */
  const turnOn = async (saved: SubmitOutcome, isDirect: boolean): Promise<boolean> => {
    const changes: FeatureChange[] = [{ action: 'updateEnabled', feature, payload: { enabled: true } }];
    try {
      continueLastWrite();
      // It belongs to the request that the strategy was added to.
      if (saved.kind === 'proposed') await propose(saved, changes, saved.changeRequest.id);
      else await submitChanges.mutateAsync({ environment, changes, isDirect });
      return true;
    } catch (error) {
      notifyError(error);
      return false;
    }
  };

  const save = async ({ isDirect = false, turnsOn = false } = {}): Promise<void> => {
    try {
      const outcome = await submitChanges.mutateAsync({
        environment,
        changes: [change],
        ifMatch: base.entityTag,
        isDirect,
      });
      setSaved(true);
      const isOn = turnsOn && (await turnOn(outcome, isDirect));
      notifySubmitted(
        outcome,
        isOn ? `The strategy is saved, and the flag is on in ${environment}.` : 'The strategy is saved.',
      );
      void navigate({ to: '/projects/$project/features/$feature', params: { project, feature }, ignoreBlocker: true });
    } catch (error) {
      if (error instanceof ApiError && error.kind === 'PreconditionFailed') await mergeWithStored();
    }
  };

  return {
    isNew: id === undefined,
    draft,
    /** the draft of the stored strategy that is edited; undefined for a new one */
    storedDraft: base.draft,
    change,
    isChanged,
    /** whether leaving the page loses an edit of a stored strategy */
    isUnsaved: base.draft !== undefined && isChanged && !isSaved,
    wasMerged,
    isPending: submitChanges.isPending,
    error: submitChanges.error?.kind === 'PreconditionFailed' ? null : submitChanges.error,
    conflict,
    /** the newest edit of somebody else that is not part of the draft */
    otherEdit: isKnown ? undefined : newestEdit,
    takeOver: mergeWithStored,
    edit,
    save,
    resolveConflict: (merged: Json): void => conflict && adopt(merged, conflict.current, conflict.knownEdit),
    cancelConflict: (): void => setConflict(undefined),
  };
}
export type StrategyEdit = ReturnType<typeof useStrategyEdit>;

/** The props of a component that edits a part of a strategy. */
export interface StrategyPartProps {
  readonly draft: StrategyDraft;
  readonly onChange: (draft: StrategyDraft) => void;
}
