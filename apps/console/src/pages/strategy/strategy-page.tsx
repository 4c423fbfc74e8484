import {
  type FeatureChange,
  type FeatureStrategy,
  GetFeature,
  GetStrategy,
  ListContextFields,
  ListSegments,
  ListStrategyTypes,
} from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Label, Slider, SliderThumb, SliderTrack } from 'react-aria-components';
import { ApiError } from '../../api/api-error.ts';
import { callTagged } from '../../api/call.ts';
import { read, readTagged } from '../../api/queries.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { Answer, Badge, ErrorNotice, Loading, Notice } from '../../components/content.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { Checkbox, ComboBox, Select, Switch, TextField } from '../../components/fields.tsx';
import { Page } from '../../components/page.tsx';
import { messages } from '../../messages.ts';
import { notify } from '../../shell/toasts.tsx';
import { useApplyChanges, useProtectedEnvironments } from '../../strategies/apply-change.ts';
import {
  draftOf,
  jsonOfDraft,
  newDraft,
  parseDraft,
  type StrategyDraft,
  strategyOf,
} from '../../strategies/strategy-draft.ts';
import { reachesEverybody, strategySentence } from '../../strategies/strategy-sentence.ts';
import { mergeChanges, type Json, type MergeConflict } from '../../strategies/three-way-merge.ts';
import { ConstraintsEditor } from './constraints-editor.tsx';
import { ImpactPanel } from './impact-panel.tsx';
import { MergeDialog } from './merge-dialog.tsx';
import { VariantsEditor } from './variants-editor.tsx';
import styles from './strategy.module.css';

const JsonEditor = lazy(() =>
  import('./json-editor.tsx').then(({ JsonEditor: component }) => ({ default: component })),
);

interface Place {
  readonly project: string;
  readonly feature: string;
  readonly environment: string;
}

interface PartProps {
  readonly draft: StrategyDraft;
  readonly onChange: (draft: StrategyDraft) => void;
}

const rolloutTypes = new Map([
  ['flexibleRollout', 'rollout'],
  ['gradualRolloutRandom', 'percentage'],
  ['gradualRolloutSessionId', 'percentage'],
  ['gradualRolloutUserId', 'percentage'],
]);

interface PercentageProps {
  readonly value: number;
  readonly onChange: (value: number) => void;
}

const PercentageField = ({ value, onChange }: PercentageProps) => (
  <div className={styles['percentage']}>
    <Slider minValue={0} maxValue={100} value={value} onChange={onChange}>
      <Label>{messages.strategy.rollout}</Label>
      <SliderTrack className={styles['track'] ?? ''}>
        <SliderThumb className={styles['thumb'] ?? ''} />
      </SliderTrack>
    </Slider>
    <TextField
      label={messages.strategy.rolloutPercent}
      type="number"
      value={String(value)}
      onChange={(text) => onChange(Math.min(100, Math.max(0, Math.round(Number(text)) || 0)))}
    />
  </div>
);

/** Who gets the flag: the type of the strategy and its parameters. */
const Audience = ({ draft, onChange }: PartProps) => {
  const { name, parameters } = draft;
  const types = useQuery({ ...read(ListStrategyTypes, {}), staleTime: 60_000 });
  const fields = useQuery({ ...read(ListContextFields, {}), staleTime: 60_000 });
  const set = (parameter: string, value: string): void =>
    onChange({ ...draft, parameters: { ...parameters, [parameter]: value } });
  const percentage = rolloutTypes.get(name);
  const type = types.data?.strategies.find((one) => one.name === name);
  const sticky = [
    'default',
    'userId',
    'sessionId',
    'random',
    ...(fields.data ?? []).filter(({ stickiness }) => stickiness === true).map((field) => field.name),
  ];
  const shownTypes = (types.data?.strategies ?? [])
    .filter((one) => !one.deprecated || one.name === name)
    .map((one) => ({ id: one.name, label: messages.strategy.types[one.name] ?? one.displayName ?? one.name }));
  const otherParameters = (type?.parameters ?? [])
    .map((parameter) => parameter as { name: string; description?: string; type?: string; required?: boolean })
    .filter(
      (parameter) =>
        parameter.name !== percentage &&
        !(name === 'flexibleRollout' && ['stickiness', 'groupId'].includes(parameter.name)),
    );
  return (
    <section className={styles['section']} aria-labelledby="audience">
      <h2 id="audience">{messages.strategy.audience}</h2>
      <Select
        label={messages.strategy.type}
        hint={type?.description ?? undefined}
        options={shownTypes.some(({ id }) => id === name) ? shownTypes : [{ id: name, label: name }, ...shownTypes]}
        value={name}
        onChange={(next) => onChange({ ...draft, name: next })}
      />
      {percentage !== undefined && (
        <PercentageField
          value={Number(parameters[percentage] ?? 100)}
          onChange={(value) => set(percentage, String(value))}
        />
      )}
      {name === 'flexibleRollout' && (
        <div className={styles['row']}>
          <Select
            label={messages.strategy.stickiness}
            hint={messages.strategy.stickinessHint}
            options={[...new Set([...sticky, parameters['stickiness'] ?? 'default'])].map((id) => ({ id, label: id }))}
            value={parameters['stickiness'] ?? 'default'}
            onChange={(value) =>
              onChange({
                ...draft,
                parameters: { ...parameters, stickiness: value },
                variants: draft.variants.map((variant) => ({ ...variant, stickiness: value })),
              })
            }
          />
          <TextField
            label={messages.strategy.groupId}
            hint={messages.strategy.groupIdHint}
            value={parameters['groupId'] ?? ''}
            onChange={(value) => set('groupId', value)}
          />
        </div>
      )}
      {otherParameters.map((parameter) => (
        <TextField
          key={parameter.name}
          label={parameter.name}
          hint={parameter.description}
          {...(parameter.type === 'list' ? { rows: 3 } : {})}
          isRequired={parameter.required === true}
          value={parameters[parameter.name] ?? ''}
          onChange={(value) => set(parameter.name, value)}
        />
      ))}
    </section>
  );
};

const Segments = ({ draft, onChange }: PartProps) => {
  const { data } = useQuery({ ...read(ListSegments, {}), staleTime: 60_000 });
  const segments = data?.segments ?? [];
  const chosen = draft.segments;
  const nameOf = (id: number): string => segments.find((segment) => segment.id === id)?.name ?? `${id}`;
  return (
    <section className={styles['section']} aria-labelledby="segments">
      <h2 id="segments">{messages.strategy.segments}</h2>
      {segments.length > chosen.length && (
        <ComboBox
          key={chosen.join()}
          label={messages.strategy.addSegment}
          options={segments
            .filter(({ id }) => !chosen.includes(id))
            .map(({ id, name, description }) => ({ id: String(id), label: name, about: description ?? undefined }))}
          value={null}
          onChange={(id) => onChange({ ...draft, segments: [...chosen, Number(id)] })}
        />
      )}
      {segments.length === 0 && <p className={styles['muted']}>{messages.strategy.noSegments}</p>}
      <div className={styles['options']}>
        {chosen.map((id) => (
          <Checkbox
            key={id}
            isSelected
            onChange={() => onChange({ ...draft, segments: chosen.filter((one) => one !== id) })}
          >
            {nameOf(id)}
          </Checkbox>
        ))}
      </div>
    </section>
  );
};

/** The strategy as JSON beside the form. What is no strategy stays here until it is one. */
const JsonSection = ({ draft, onChange }: PartProps) => {
  const [own, setOwn] = useState<{ readonly text: string; readonly error: string | undefined }>();
  const isOwn = own !== undefined && (own.error !== undefined || isTextOf(own.text, draft));
  const text = isOwn ? own.text : JSON.stringify(draft, null, 2);
  const edit = (typed: string): void => {
    if (typed === text) return;
    try {
      const parsed = parseDraft(typed);
      setOwn({ text: typed, error: undefined });
      onChange(parsed);
    } catch (error) {
      setOwn({ text: typed, error: (error as Error).message });
    }
  };
  return (
    <section className={styles['section']}>
      <h2>{messages.strategy.json}</h2>
      <Suspense fallback={<Loading />}>
        <JsonEditor text={text} onChange={edit} />
      </Suspense>
      {own?.error !== undefined && <Notice tone="warning">{messages.strategy.badJson(own.error)}</Notice>}
    </section>
  );
};

/** Whether a text describes the draft, in whatever layout. */
const isTextOf = (text: string, draft: StrategyDraft): boolean => {
  try {
    return JSON.stringify(parseDraft(text)) === JSON.stringify(draft);
  } catch {
    return false;
  }
};

interface EditorProps extends Place {
  /** as it was read; undefined for a new strategy */
  readonly stored: FeatureStrategy | undefined;
  readonly tag: string | undefined;
  readonly isEnabled: boolean;
}

const Editor = ({ project, feature, environment, stored, tag, isEnabled }: EditorProps) => {
  const [base, setBase] = useState({ draft: stored === undefined ? undefined : draftOf(stored), tag });
  const [draft, setDraft] = useState<StrategyDraft>(() => base.draft ?? newDraft(feature));
  const [isJson, setJson] = useState(false);
  const [isDone, setDone] = useState(false);
  const [wasMerged, setMerged] = useState(false);
  const [conflict, setConflict] = useState<{ readonly merged: Json; readonly conflicts: readonly MergeConflict[] }>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const apply = useApplyChanges(project);
  const protectedOnes = useProtectedEnvironments(project);
  const segments = useQuery({ ...read(ListSegments, {}), staleTime: 60_000 });
  const isProtected = protectedOnes?.has(environment) ?? false;
  const isChanged = base.draft === undefined || JSON.stringify(base.draft) !== JSON.stringify(draft);
  const blocker = useBlocker({
    shouldBlockFn: () => base.draft !== undefined && isChanged && !isDone,
    withResolver: true,
    enableBeforeUnload: () => base.draft !== undefined && isChanged && !isDone,
  });

  const segmentNames = new Map((segments.data?.segments ?? []).map(({ id, name }) => [id, name]));
  const payload = strategyOf(draft);
  const id = stored?.id;
  const change: FeatureChange =
    id === undefined
      ? { action: 'addStrategy', feature, payload }
      : { action: 'updateStrategy', feature, payload: { id, ...payload } };
  const edit = (changed: StrategyDraft): void => {
    apply.reset();
    setDraft(changed);
  };

  /** Reads what somebody else has saved, and puts both edits together by field. */
  const merge = async (): Promise<void> => {
    if (base.draft === undefined || id === undefined) return;
    const params = { projectId: project, featureName: feature, environment, strategyId: id };
    const theirs = await callTagged(GetStrategy, { params });
    const theirDraft = draftOf(theirs.value);
    const { merged, conflicts } = mergeChanges(jsonOfDraft(base.draft), jsonOfDraft(draft), jsonOfDraft(theirDraft));
    setBase({ draft: theirDraft, tag: theirs.tag });
    if (conflicts.length > 0) setConflict({ merged: merged as Json, conflicts });
    else {
      setDraft(merged as unknown as StrategyDraft);
      setMerged(true);
    }
  };

  const save = async (): Promise<void> => {
    try {
      const outcome = await apply.mutateAsync({ environment, changes: [change], ifMatch: base.tag });
      setDone(true);
      notify(outcome.kind === 'made' ? messages.strategy.saved : messages.flag.proposed(environment));
      await client.invalidateQueries({ queryKey: [GetFeature.operationId] });
      void navigate({ to: '/projects/$project/features/$feature', params: { project, feature }, ignoreBlocker: true });
    } catch (error) {
      if (error instanceof ApiError && error.kind === 'PreconditionFailed') await merge();
    }
  };

  const error = apply.error?.kind === 'PreconditionFailed' ? null : apply.error;
  return (
    <Page
      title={id === undefined ? messages.strategy.newTitle(environment) : messages.strategy.title(environment)}
      crumbs={[
        <Link key="project" to="/projects/$project/flags" params={{ project }}>
          {project}
        </Link>,
        <Link key="flag" to="/projects/$project/features/$feature" params={{ project, feature }}>
          {feature}
        </Link>,
      ]}
      marks={isProtected && <Badge tone="accent">{messages.flag.protected}</Badge>}
      actions={
        <Button onPress={() => setJson(!isJson)} aria-pressed={isJson}>
          {isJson ? messages.strategy.hideJson : messages.strategy.showJson}
        </Button>
      }
    >
      <div className={styles['layout']}>
        <form
          className={styles['form']}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          {wasMerged && <Notice tone="warning">{messages.strategy.merged}</Notice>}
          <section className={styles['section']}>
            <TextField
              label={messages.strategy.strategyTitle}
              hint={messages.strategy.titleHint}
              value={draft.title}
              onChange={(title) => edit({ ...draft, title })}
            />
            <Switch isSelected={!draft.disabled} onChange={(on) => edit({ ...draft, disabled: !on })}>
              {messages.strategy.active}
            </Switch>
          </section>
          <Audience draft={draft} onChange={edit} />
          <Segments draft={draft} onChange={edit} />
          <ConstraintsEditor
            constraints={draft.constraints}
            onChange={(constraints) => edit({ ...draft, constraints })}
          />
          <VariantsEditor
            variants={draft.variants}
            stickiness={draft.parameters['stickiness'] ?? 'default'}
            onChange={(variants) => edit({ ...draft, variants })}
          />
          {error !== null && <ErrorNotice error={error} />}
          <div className={styles['footer']}>
            <Button type="submit" variant="primary" isPending={apply.isPending} isDisabled={!isChanged}>
              {isProtected ? messages.flag.propose : messages.common.save}
            </Button>
            <Link to="/projects/$project/features/$feature" params={{ project, feature }} className={buttonClass()}>
              {messages.common.cancel}
            </Link>
          </div>
        </form>
        <div className={styles['side']}>
          <ImpactPanel
            {...{ project, environment, isEnabled }}
            changes={isChanged ? [change] : []}
            before={stored === undefined ? undefined : strategySentence(strategyOf(base.draft ?? draft), segmentNames)}
            after={strategySentence(payload, segmentNames)}
            widensToEverybody={
              reachesEverybody(payload) && !(base.draft !== undefined && reachesEverybody(strategyOf(base.draft)))
            }
          />
          {isJson && <JsonSection draft={draft} onChange={edit} />}
        </div>
      </div>
      {conflict !== undefined && (
        <MergeDialog
          {...conflict}
          onClose={() => setConflict(undefined)}
          onMerge={(value) => {
            setDraft(value as unknown as StrategyDraft);
            setMerged(true);
            setConflict(undefined);
          }}
        />
      )}
      {blocker.status === 'blocked' && (
        <ConfirmDialog
          title={messages.strategy.leaveTitle}
          confirm={messages.strategy.leave}
          isDangerous
          onClose={blocker.reset}
          onConfirm={blocker.proceed}
        >
          <p>{messages.strategy.leaveHelp}</p>
        </ConfirmDialog>
      )}
    </Page>
  );
};

/** Adds or edits one strategy, and says what the edit does before it is saved. */
export const StrategyPage = () => {
  const params = useParams({ strict: false }) as Place & { readonly strategy: string };
  const { project, feature, environment, strategy } = params;
  const isNew = strategy === 'new';
  const flag = useQuery(read(GetFeature, { params: { projectId: project, featureName: feature } }));
  const stored = useQuery({
    ...readTagged(GetStrategy, {
      params: { projectId: project, featureName: feature, environment, strategyId: strategy },
    }),
    enabled: !isNew,
    // What is edited must not change under the hands of the user: a later state is merged when it is saved.
    ...{ staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  });
  return (
    <Answer query={flag}>
      {({ environments = [] }) => {
        const isEnabled = environments.find(({ name }) => name === environment)?.enabled ?? false;
        const place = { project, feature, environment, isEnabled };
        if (isNew) return <Editor {...place} stored={undefined} tag={undefined} />;
        return (
          <Answer query={stored}>
            {({ value, tag }) => <Editor key={strategy} {...place} stored={value} tag={tag} />}
          </Answer>
        );
      }}
    </Answer>
  );
};
