import {
  type AnyOperation,
  CreateSegment,
  EvaluateImpact,
  type Event,
  type EventUndo,
  type FeatureChange,
  type FeatureStrategy,
  GetEventUndo,
  GetFeature,
  isEqual,
  MoveFeature,
  permissionsFor,
  ReviveFeature,
  SetStale,
  UpdateFeature,
  UpdateFeatureTags,
  type UndoRefusal,
  type UndoStep,
  changeSentence,
} from '@bunting/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { operationQuery, useSegmentNames } from '../../api/queries-and-mutations.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { EventSummary } from '../../components/content/event-summary.tsx';
import { useProjectName, useProjectNames } from '../../components/content/project-name.tsx';
import { notify } from '../../shell/toasts.tsx';
import { type EditProtection, SkipChangeRequestNotice } from '../../changes/edit-protection.tsx';
import type { Proposed } from '../../changes/propose.ts';
import { call, type CallRequest } from '../../api/call.ts';
import { useSubmitChanges } from '../../changes/submit-changes.ts';
import { DependentImpact, ImpactGroups, Incompleteness } from '../strategy/impact-groups.tsx';
import { ChangedFields } from './changed-fields.tsx';
import { undoOperationOf, useUndoProtection, useUndoRights } from './undo-rights.ts';
import { missingPermission } from '../../text/permission-words.ts';
import { shortSummary } from '../../text/short-summary.ts';
import layout from '../../components/layout/layout.module.css';

const texts = {
  refused: {
    unsupported: 'An event of this kind cannot be undone here.',
    flagGone: 'The flag is no longer in this project.',
    flagArchived: 'The flag is archived. Revive it first.',
    flagDeleted: 'The flag was deleted for good.',
    environmentGone: 'The flag is no longer in this environment.',
    strategyGone: 'The strategy was removed since.',
    strategiesDiffer: 'Strategies were added, removed or moved since.',
    noStrategy: 'The flag has no strategy there now: turned on, it would get the default strategy of the project.',
    segmentGone: 'The segment was deleted since.',
    segmentExists: 'There is a segment of this name again.',
    segmentHadList: 'The segment had a list, and its ids are no longer there.',
    segmentListChanged:
      'The event says how many ids were added and removed, and not which. Upload the list that it had on the page of the segment.',
    dependencyChanged: 'The dependencies of the flag were changed since.',
    dependencyUnknown: 'The event does not say what the dependency was.',
    flagOn: 'The flag is on in an environment, and archiving would turn it off. Turn it off there first.',
    setAgain: 'This was decided again by a later event. Look at the newest one: undoing this one would take it back.',
    moved: 'The flag was moved since.',
    unknownBefore: 'The event does not say what was before.',
    redacted: 'The event log has left out a text of it that looks like a secret, so what was before is not known.',
  } satisfies Record<UndoRefusal, string>,
} as const;

function formatValue(value: unknown): string {
  return value === undefined || value === null ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value);
}

type TagChange = Readonly<
  Record<'addedTags' | 'removedTags', readonly { readonly type: string; readonly value: string }[]>
>;

/** The operations of the steps that are requests, and what each does, in a sentence without a full stop. */
const requests: Readonly<
  Record<string, readonly [AnyOperation, (body: never, nameOfProject: (id: string) => string) => string]>
> = {
  [UpdateFeatureTags.operationId]: [
    UpdateFeatureTags,
    ({ addedTags, removedTags }: TagChange) =>
      [
        ...addedTags.map(({ type, value }) => `Add the tag ${type}:${value}`),
        ...removedTags.map(({ type, value }) => `Remove the tag ${type}:${value}`),
      ].join(', '),
  ],
  [UpdateFeature.operationId]: [UpdateFeature, () => 'Change the details of the flag'],
  [SetStale.operationId]: [
    SetStale,
    ({ stale }: { readonly stale: boolean }) => (stale ? 'Mark the flag as stale' : 'Mark the flag as not stale'),
  ],
  [ReviveFeature.operationId]: [ReviveFeature, () => 'Revive the flag, turned off in all environments'],
  [MoveFeature.operationId]: [
    MoveFeature,
    ({ newProjectId }: { readonly newProjectId: string }, nameOfProject) =>
      `Move the flag back to the project ${nameOfProject(newProjectId)}`,
  ],
  [CreateSegment.operationId]: [
    CreateSegment,
    ({ name }: { readonly name: string }) =>
      `Create the segment ${name} again. Strategies that used it do not use the new one.`,
  ],
};

interface SentenceProps {
  readonly event: Event;
  readonly step: UndoStep;
}

/** The flag that an event is about. */
function useFlagOf({ project, featureName }: Event) {
  return useQuery({
    ...operationQuery(GetFeature, { params: { projectId: project ?? '', featureName: featureName ?? '' } }),
    enabled: project != null && featureName != null,
    retry: false,
  });
}

/** What a step does, in a sentence. */
function StepSentence({ event, step }: SentenceProps) {
  const segmentNames = useSegmentNames();
  const feature = useFlagOf(event);
  const nameOfProject = useProjectNames();
  if (step.kind === 'request')
    return `${requests[step.operationId]?.[1](step.body as never, nameOfProject) ?? step.operationId}.`;
  const { environment, change } = step;
  const strategies: readonly FeatureStrategy[] =
    feature.data?.environments?.find(({ name }) => name === environment)?.strategies ?? [];
  const { sentence, before, after } = changeSentence(change, {
    environment: environment ?? '',
    strategies: Object.fromEntries(strategies.map((strategy) => [strategy.id ?? '', strategy])),
    segmentNames,
  });
  const isEnvironmentNamed = environment === null || change.action === 'updateEnabled';
  const sentenceWithPlace = isEnvironmentNamed ? sentence : `${sentence} in ${environment}`;
  const strategy = change.action === 'deleteStrategy' ? before : change.action === 'addStrategy' ? after : undefined;
  return strategy === undefined ? `${sentenceWithPlace}.` : `${sentenceWithPlace}: ${strategy}.`;
}

/** The environments that the steps change, each once; null stands for all of them. A request changes none of them. */
function affectedEnvironmentsOf(steps: readonly UndoStep[]): readonly (string | null)[] {
  return [...new Set(steps.flatMap((step) => (step.kind === 'change' ? [step.environment] : [])))];
}

interface ImpactProps {
  readonly event: Event;
  readonly environment: string;
  readonly steps: readonly UndoStep[];
}

/** The users for whom the steps turn flags on or off. */
function Impact({ event, environment, steps }: ImpactProps) {
  const changes = steps.flatMap((step) =>
    step.kind === 'change' && step.environment === environment ? [step.change as FeatureChange] : [],
  );
  const flag = useFlagOf(event).data?.environments?.find(({ name }) => name === environment);
  const turned = changes.find((change) => change.action === 'updateEnabled');
  const isOff = (turned?.payload ?? flag)?.enabled === false;
  const body = { project: event.project ?? '', environment, changes };
  const query = useQuery({ ...operationQuery(EvaluateImpact, { body }), retry: false });
  if (query.error !== null) return null;
  if (query.data === undefined) return <Loading />;
  return query.data.features.map((feature) =>
    feature.dependsOn === undefined ? (
      <Fragment key={feature.name}>
        <ImpactGroups groups={feature.groups} label={feature.name} offIn={isOff ? environment : undefined} />
        <Incompleteness isComplete={feature.isComplete} />
      </Fragment>
    ) : (
      <DependentImpact key={feature.name} {...feature} />
    ),
  );
}

interface PlanProps {
  readonly event: Event;
  readonly undo: EventUndo;
}

function Plan({ event, undo: { state, reason, steps, changes, conflicts } }: PlanProps) {
  switch (state) {
    case 'done':
      return <Notice>There is nothing to undo: everything is as it was before this event.</Notice>;
    case 'refused':
      return <Notice tone="warning">{texts.refused[reason ?? 'unsupported']}</Notice>;
    case 'changed':
      return (
        <Notice tone="warning">
          This cannot be undone alone, because it was changed again since:
          <ul>
            {conflicts.map(({ path, left, now }) => (
              <li key={path.join('/')}>
                {path.join(' › ')}: this event left {formatValue(left)}, and now it is {formatValue(now)}.
              </li>
            ))}
          </ul>
        </Notice>
      );
    case 'possible': {
      const [environment] = affectedEnvironmentsOf(steps);
      return (
        <section className={layout['stack']} aria-label="This will happen">
          <h3>This will happen</h3>
          <ul>
            {steps.map((step, index) => (
              <li key={index}>
                <StepSentence event={event} step={step} />
              </li>
            ))}
          </ul>
          {changes.length > 0 && (
            <ChangedFields label="What changed" changes={changes} titles={{ before: 'Now', after: 'Afterwards' }} />
          )}
          {environment != null && event.featureName != null && (
            <Impact event={event} environment={environment} steps={steps} />
          )}
        </section>
      );
    }
  }
}

function withoutTags(undo: EventUndo | undefined) {
  return undo && { ...undo, steps: undo.steps.map(({ ifMatch: _, ...step }) => step) };
}

/**
 * Returns a function that takes a step, and returns the proposal of which it became a part, if any. The change of a segment of every project is
 * proposed where that is protected.
 */
function useTakeStep(event: Event, { project, environments: [protectedUse] }: EditProtection) {
  const submitChanges = useSubmitChanges(project);
  return async (step: UndoStep, isDirect: boolean): Promise<Proposed | undefined> => {
    const ifMatch = step.ifMatch ?? undefined;
    if (step.kind === 'request') {
      const [operation] = requests[step.operationId] ?? [];
      if (operation === undefined) throw new Error(`This console cannot call ${step.operationId}. Load it again.`);
      const { params, body } = step;
      await call(operation, { params, ifMatch, ...(body !== null && { body }) } as CallRequest<AnyOperation>);
      return undefined;
    }
    const environment = step.environment ?? (event.project === project ? undefined : protectedUse);
    const outcome = await submitChanges.mutateAsync({
      environment,
      changes: [step.change],
      ifMatch,
      isDirect: isDirect || project === '',
    });
    return outcome.kind === 'proposed' ? outcome : undefined;
  };
}

interface UndoDialogProps {
  readonly event: Event;
  readonly onClose: () => void;
  /** called instead of `onClose` once the event is undone */
  readonly onUndone?: () => void;
}

/** Shows how an event would be undone, or why it cannot be, and undoes it: directly or, in a protected environment, by a change request. */
export function UndoDialog({ event, onClose, onUndone = onClose }: UndoDialogProps) {
  const query = useQuery({
    ...operationQuery(GetEventUndo, { params: { id: event.id } }),
    staleTime: 0,
    gcTime: 0,
    // Not read again unseen: the steps that are taken must be those on the screen.
    refetchOnWindowFocus: false,
  });
  const [hasChanged, setHasChanged] = useState(false);
  const steps = query.data?.steps ?? [];
  const protection = useUndoProtection(event, affectedEnvironmentsOf(steps));
  const { environments: protectedEnvironments } = protection;
  const takeStep = useTakeStep(event, protection);
  const isProtectionKnown = !protection.isLoading;
  const { mayUndo, hasPermission } = useUndoRights(event);
  const mayChoose = protection.isDirect && hasPermission;
  const operation = undoOperationOf(event);
  const undo = useMutation<Proposed | undefined | 'changed', ApiError, { readonly isDirect: boolean }>({
    mutationFn: async ({ isDirect }) => {
      const { data } = await query.refetch({ throwOnError: true });
      if (data === undefined || !isEqual(withoutTags(data), withoutTags(query.data))) return 'changed';
      let proposal: Proposed | undefined;
      for (const step of data.steps) proposal = (await takeStep(step, isDirect)) ?? proposal;
      return proposal;
    },
    onSuccess: (result) => {
      setHasChanged(result === 'changed');
      if (result === 'changed') return;
      notify(result === undefined ? 'The event is undone.' : `Added to change request ${result.changeRequest.id}.`);
      if (result === undefined) onUndone();
    },
  });
  const projectName = useProjectName(event.project ?? undefined);
  const proposal = typeof undo.data === 'object' ? undo.data : undefined;
  return (
    <Dialog
      title="Undo this event"
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>{proposal === undefined ? 'Cancel' : 'Close'}</Button>
          {proposal === undefined && query.data?.state === 'possible' && mayUndo && (
            <Button
              variant="primary"
              isPending={undo.isPending}
              isDisabled={!isProtectionKnown}
              onPress={() => undo.mutate({ isDirect: false })}
            >
              {protectedEnvironments.length > 0 ? 'Propose in a change request' : 'Undo'}
            </Button>
          )}
        </>
      }
    >
      <div className={layout['stack']}>
        <p>
          <EventSummary text={shortSummary(event.summary ?? event.label ?? event.type, { projectName })} by={event} />
        </p>
        {proposal !== undefined ? (
          <Notice
            actions={
              <Link
                to="/projects/$project/change-requests/$id"
                params={{ project: proposal.project, id: String(proposal.changeRequest.id) }}
                className={buttonClass({ size: 'small' })}
              >
                Show the change request
              </Link>
            }
          >
            Added to change request {proposal.changeRequest.id}.
          </Notice>
        ) : (
          <>
            {hasChanged && (
              <Notice tone="warning">
                It has changed while this was open. Look at the new preview before you go on.
              </Notice>
            )}
            <ErrorNotice error={query.error} retry={() => void query.refetch()} />
            {query.data === undefined ? query.error === null && <Loading /> : <Plan event={event} undo={query.data} />}
            {!mayUndo && isProtectionKnown && operation !== undefined && (
              <Notice>
                You can see here what it would do, but not undo it: that takes{' '}
                {missingPermission(hasPermission ? ['SKIP_CHANGE_REQUEST'] : permissionsFor(operation))}.
              </Notice>
            )}
            {query.data?.state === 'possible' && mayUndo && mayChoose && (
              <SkipChangeRequestNotice
                protection={protection}
                isPending={undo.isPending}
                label="Undo directly"
                onDirect={() => undo.mutate({ isDirect: true })}
              />
            )}
            {protectedEnvironments.length > 0 && mayUndo && !mayChoose && (
              <Notice>
                {protectedEnvironments.join(' and ')} {protectedEnvironments.length === 1 ? 'is' : 'are'} protected: the
                change becomes part of your change request.
              </Notice>
            )}
            <ErrorNotice error={undo.error} />
          </>
        )}
      </div>
    </Dialog>
  );
}
