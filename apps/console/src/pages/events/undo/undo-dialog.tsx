import { EvaluateImpact, type Event, type FeatureStrategy, isEqual } from '@bunting/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { operationQuery, useSegmentNames } from '../../../api/queries-and-mutations.ts';
import { Button, buttonClass } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { Loading } from '../../../components/content/query-result.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { EventSummary } from '../../../components/content/event-summary.tsx';
import { notify } from '../../../shell/toasts.tsx';
import { useEditProtection } from '../../../changes/edit-protection.tsx';
import { changeSentence } from '../../../text/change-sentence.ts';
import type { Json } from '../../../merging/json.ts';
import { ImpactGroups } from '../../strategy/impact-groups.tsx';
import { ChangedFields } from '../changed-fields.tsx';
import { planUndo, type UndoPlan, type CurrentState, type UndoStep } from './plan-undo.ts';
import { readCurrentState } from './read-current-state.ts';
import layout from '../../../components/layout/layout.module.css';
import { readEntityTag, type Proposal, useExecuteUndo } from './use-execute-undo.ts';

export const texts = {
  refused: {
    unsupported: 'An event of this kind cannot be undone here.',
    flagGone: 'The flag is no longer in this project.',
    flagArchived: 'The flag is archived. Revive it first.',
    flagDeleted: 'The flag was deleted for good.',
    environmentGone: 'The flag is no longer in this environment.',
    strategyGone: 'The strategy was removed since.',
    strategiesDiffer: 'Strategies were added, removed or moved since.',
    noStrategy: 'The flag has no strategy there now: turned on, it would get one for everybody.',
    segmentGone: 'The segment was deleted since.',
    segmentExists: 'There is a segment of this name again.',
    dependencyChanged: 'The dependencies of the flag were changed since.',
    dependencyUnknown: 'The event does not say what the dependency was.',
    flagOn: 'The flag is on in an environment, and archiving would turn it off. Turn it off there first.',
    setAgain: 'This was decided again by a later event. Look at the newest one: undoing this one would take it back.',
    moved: 'The flag was moved since.',
    unknownBefore: 'The event does not say what was before.',
    redacted: 'The event log has left out a text of it that looks like a secret, so what was before is not known.',
  },
} as const;

const formatValue = (value: Json | undefined): string =>
  value === undefined || value === null ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value);

type Strategies = Readonly<Record<string, FeatureStrategy>>;

const strategiesIn = (state: CurrentState | undefined, environment: string | undefined): Strategies =>
  Object.fromEntries(
    (state?.feature?.environments?.find(({ name }) => name === environment)?.strategies ?? []).map((strategy) => [
      strategy.id ?? '',
      strategy,
    ]),
  );

/** What a step does, in a sentence without a full stop. */
const sentenceOf = (step: UndoStep, state: CurrentState, segmentNames: ReadonlyMap<number, string>): string => {
  switch (step.kind) {
    case 'change': {
      const { environment, change } = step;
      const sentenceContext = {
        environment: environment ?? '',
        strategies: strategiesIn(state, environment),
        segmentNames,
      };
      const { sentence, before, after } = changeSentence(change, sentenceContext);
      const isEnvironmentNamed = environment === undefined || change.action === 'updateEnabled';
      const sentenceWithPlace = isEnvironmentNamed ? sentence : `${sentence} in ${environment}`;
      const strategy =
        change.action === 'deleteStrategy' ? before : change.action === 'addStrategy' ? after : undefined;
      return strategy === undefined ? sentenceWithPlace : `${sentenceWithPlace}: ${strategy}`;
    }
    case 'tags':
      return [
        ...step.added.map(({ type, value }) => `Add the tag ${`${type}:${value}`}`),
        ...step.removed.map(({ type, value }) => `Remove the tag ${`${type}:${value}`}`),
      ].join(', ');
    case 'details':
      return 'Change the details of the flag';
    case 'stale':
      return step.stale ? 'Mark the flag as stale' : 'Mark the flag as not stale';
    case 'revive':
      return 'Revive the flag, turned off in all environments';
    case 'move':
      return `Move the flag back to the project ${step.project}`;
    case 'createSegment':
      return `Create the segment ${step.body.name} again. Strategies that used it do not use the new one.`;
    case 'updateSegment':
      return `Change the segment ${step.body.name}`;
    case 'deleteSegment':
      return `Delete the segment ${step.name}`;
  }
};

/**
 * The environments that the steps change, each once; undefined stands for all of them. A new segment changes none: no strategy uses it, so
 * it needs no change request.
 */
const affectedEnvironmentsOf = (steps: readonly UndoStep[]): readonly (string | undefined)[] => [
  ...new Set(
    steps.flatMap((step) =>
      step.kind === 'change'
        ? [step.environment]
        : step.kind === 'updateSegment' || step.kind === 'deleteSegment'
          ? [undefined]
          : [],
    ),
  ),
];

interface ImpactProps {
  readonly event: Event;
  readonly steps: readonly UndoStep[];
}

/** The users for whom the steps turn flags on or off. */
const Impact = ({ event, steps }: ImpactProps) => {
  const [environment] = affectedEnvironmentsOf(steps);
  const changes = steps.flatMap((step) =>
    step.kind === 'change' && step.environment === environment ? [step.change] : [],
  );
  const body = { project: event.project ?? '', environment: environment ?? '', changes };
  const query = useQuery({ ...operationQuery(EvaluateImpact, { body }), retry: false });
  if (query.error !== null) return null;
  if (query.data === undefined) return <Loading />;
  return query.data.features.map(({ name, groups }) => <ImpactGroups key={name} groups={groups} label={name} />);
};

interface PlanProps {
  readonly event: Event;
  readonly plan: UndoPlan;
  readonly state: CurrentState;
}

const Plan = ({ event, plan, state }: PlanProps) => {
  const segmentNames = useSegmentNames();
  switch (plan.kind) {
    case 'done':
      return <Notice>There is nothing to undo: everything is as it was before this event.</Notice>;
    case 'refused':
      return <Notice tone="warning">{texts.refused[plan.reason]}</Notice>;
    case 'changed':
      return (
        <Notice tone="warning">
          This cannot be undone alone, because it was changed again since:
          <ul>
            {plan.conflicts.map(({ path, left, now }) => (
              <li key={path.join('/')}>
                {path.join(' › ')}: this event left {formatValue(left)}, and now it is {formatValue(now)}.
              </li>
            ))}
          </ul>
        </Notice>
      );
    case 'possible': {
      const [environment] = affectedEnvironmentsOf(plan.steps);
      return (
        <section className={layout['stack']} aria-label="This will happen">
          <h3>This will happen</h3>
          <ul>
            {plan.steps.map((step, index) => (
              <li key={index}>{sentenceOf(step, state, segmentNames)}.</li>
            ))}
          </ul>
          {plan.changes.length > 0 && (
            <ChangedFields
              label="What changed"
              changes={plan.changes}
              titles={{ before: 'Now', after: 'Afterwards' }}
            />
          )}
          {environment !== undefined && event.featureName != null && <Impact event={event} steps={plan.steps} />}
        </section>
      );
    }
  }
};

/** Shows how an event would be undone, or why it cannot be, and undoes it: directly or, in a protected environment, by a change request. */
export const UndoDialog = ({ event, onClose }: { readonly event: Event; readonly onClose: () => void }) => {
  const query = useQuery({
    queryKey: ['undo', event.id],
    queryFn: ({ signal }) => readCurrentState(event, signal),
    staleTime: 0,
    gcTime: 0,
    // Not read again unseen: the plan that is executed must be the one on the screen.
    refetchOnWindowFocus: false,
  });
  const [hasChanged, setHasChanged] = useState(false);
  const plan = query.data && planUndo(event, query.data);
  const steps = plan?.kind === 'possible' ? plan.steps : [];
  const protection = useEditProtection(event.project ?? 'default');
  const protectedEnvironments =
    event.project == null
      ? []
      : protection.environments.filter((name) =>
          affectedEnvironmentsOf(steps).some((environment) => environment === undefined || environment === name),
        );
  const executeUndo = useExecuteUndo(event);
  const undo = useMutation<Proposal | 'changed', ApiError>({
    mutationFn: async () => {
      // The entity tags are read before the plan is computed again: an edit after that either changes the plan, or the step fails with 412.
      const stepsWithTags = await Promise.all(
        steps.map(async (step) => ({ step, ifMatch: await readEntityTag(event, step) })),
      );
      const { data } = await query.refetch({ throwOnError: true });
      const currentPlan = data && planUndo(event, data);
      if (!isEqual(currentPlan, plan)) return 'changed';
      return executeUndo(stepsWithTags);
    },
    onSuccess: (result) => {
      setHasChanged(result === 'changed');
      if (result === 'changed') return;
      notify(result === undefined ? 'The event is undone.' : `Added to change request ${result.id}.`);
      if (result === undefined) onClose();
    },
  });
  const proposal = typeof undo.data === 'object' ? undo.data : undefined;
  return (
    <Dialog
      title="Undo this event"
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>{proposal === undefined ? 'Cancel' : 'Close'}</Button>
          {proposal === undefined && plan?.kind === 'possible' && (
            <Button
              variant="primary"
              isPending={undo.isPending}
              isDisabled={event.project != null && protection.isLoading}
              onPress={() => undo.mutate()}
            >
              {protectedEnvironments.length > 0 ? 'Propose in a change request' : 'Undo'}
            </Button>
          )}
        </>
      }
    >
      <div className={layout['stack']}>
        <p>
          <EventSummary text={event.summary ?? event.label ?? event.type} />
        </p>
        {proposal !== undefined ? (
          <Notice
            actions={
              <Link
                to="/projects/$project/change-requests/$id"
                params={{ project: event.project ?? '', id: String(proposal.id) }}
                className={buttonClass({ size: 'small' })}
              >
                Show the change request
              </Link>
            }
          >
            Added to change request {proposal.id}.
          </Notice>
        ) : (
          <>
            {hasChanged && (
              <Notice tone="warning">
                It has changed while this was open. Look at the new preview before you go on.
              </Notice>
            )}
            {query.error !== null && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
            {query.data === undefined || plan === undefined ? (
              query.error === null && <Loading />
            ) : (
              <Plan event={event} plan={plan} state={query.data} />
            )}
            {protectedEnvironments.length > 0 && (
              <Notice>
                {protectedEnvironments.join(' and ')} {protectedEnvironments.length === 1 ? 'is' : 'are'} protected: the
                change becomes part of your change request.
              </Notice>
            )}
            {undo.error !== null && <ErrorNotice error={undo.error} />}
          </>
        )}
      </div>
    </Dialog>
  );
};
