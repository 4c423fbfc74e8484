import {
  type FeatureChange,
  type FeatureStrategy,
  GetFeature,
  GetStrategy,
  isEqual,
  ListSegments,
} from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { callWithEntityTag } from '../../api/call.ts';
import { operationQuery, operationQueryWithEntityTag } from '../../api/queries.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { QueryResult, Badge, ErrorNotice, Loading, Notice } from '../../components/content/content.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';
import { Switch, TextField } from '../../components/forms/fields.tsx';
import { Page } from '../../components/layout/page.tsx';
import { flagMessages } from '../../messages/flag.ts';
import { protectionMessages } from '../../messages/protection.ts';
import { strategyMessages } from '../../messages/strategy.ts';
import { messages } from '../../messages/shared.ts';
import { notify } from '../../shell/toasts.tsx';
import { useApplyChanges } from '../../strategies/apply-change.ts';
import { DirectNotice, useProtection } from '../../strategies/protection-notices.tsx';
import {
  strategyDraftOf,
  newStrategyDraft,
  parseStrategyDraft,
  type StrategyDraft,
  strategyBodyOf,
} from '../../strategies/strategy-draft.ts';
import { reachesEverybody, strategySentence } from '../../strategies/strategy-sentence.ts';
import { mergeChanges, type Json, type MergeConflict } from '../../strategies/three-way-merge.ts';
import { SegmentFields } from './segment-fields.tsx';
import type { StrategyPartProps } from './strategy-part-props.ts';
import { StrategyTypeFields } from './strategy-type-fields.tsx';
import { ConstraintsEditor } from './constraints/constraints-editor.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './strategy.module.css';

const VariantsEditor = lazy(() =>
  import('./variants/variants-editor.tsx').then(({ VariantsEditor: component }) => ({ default: component })),
);
const ImpactPanel = lazy(() =>
  import('./impact/impact-panel.tsx').then(({ ImpactPanel: component }) => ({ default: component })),
);
const MergeDialog = lazy(() =>
  import('./merge-dialog.tsx').then(({ MergeDialog: component }) => ({ default: component })),
);
const JsonEditor = lazy(() =>
  import('./json/json-editor.tsx').then(({ JsonEditor: component }) => ({ default: component })),
);

interface Place {
  readonly project: string;
  readonly feature: string;
  readonly environment: string;
}

/** The strategy as JSON beside the form. What is no strategy stays here until it is one. */
const JsonSection = ({ draft, onChange }: StrategyPartProps) => {
  const [own, setOwn] = useState<{ readonly text: string; readonly error: string | undefined }>();
  const isOwn = own !== undefined && (own.error !== undefined || isTextOf(own.text, draft));
  const text = isOwn ? own.text : JSON.stringify(draft, null, 2);
  const edit = (typed: string): void => {
    if (typed === text) return;
    try {
      const parsed = parseStrategyDraft(typed);
      setOwn({ text: typed, error: undefined });
      onChange(parsed);
    } catch (error) {
      setOwn({ text: typed, error: (error as Error).message });
    }
  };
  return (
    <section className={layout['card']}>
      <h2>{strategyMessages.json}</h2>
      <Suspense fallback={<Loading />}>
        <JsonEditor label={strategyMessages.json} text={text} onChange={edit} />
      </Suspense>
      {own?.error !== undefined && <Notice tone="warning">{strategyMessages.badJson(own.error)}</Notice>}
    </section>
  );
};

/** Whether a text describes the draft, in whatever layout. */
const isTextOf = (text: string, draft: StrategyDraft): boolean => {
  try {
    return isEqual(parseStrategyDraft(text), draft);
  } catch {
    return false;
  }
};

/** A strategy as another person left it, with its entity tag. */
interface Later {
  readonly draft: StrategyDraft;
  readonly entityTag: string | undefined;
}

interface Conflict {
  readonly merged: Json;
  readonly conflicts: readonly MergeConflict[];
  readonly later: Later;
}

interface EditorProps extends Place {
  /** as it was read; undefined for a new strategy */
  readonly stored: FeatureStrategy | undefined;
  readonly entityTag: string | undefined;
  readonly isEnabled: boolean;
}

const Editor = ({ project, feature, environment, stored, entityTag, isEnabled }: EditorProps) => {
  const [base, setBase] = useState<Partial<Later>>({ ...(stored && { draft: strategyDraftOf(stored) }), entityTag });
  const [draft, setDraft] = useState<StrategyDraft>(() => base.draft ?? newStrategyDraft(feature));
  const [isJson, setJson] = useState(false);
  const [isDone, setDone] = useState(false);
  const [wasMerged, setMerged] = useState(false);
  const [conflict, setConflict] = useState<Conflict>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const apply = useApplyChanges(project);
  const protection = useProtection(project, environment);
  const segments = useQuery({ ...operationQuery(ListSegments, {}), staleTime: 60_000 });
  const isProtected = protection.environments.length > 0;
  const isChanged = base.draft === undefined || !isEqual(base.draft, draft);
  const blocker = useBlocker({
    shouldBlockFn: () => base.draft !== undefined && isChanged && !isDone,
    withResolver: true,
    enableBeforeUnload: () => base.draft !== undefined && isChanged && !isDone,
  });

  const segmentNames = new Map((segments.data?.segments ?? []).map(({ id, name }) => [id, name]));
  const payload = strategyBodyOf(draft);
  const id = stored?.id;
  const change: FeatureChange =
    id === undefined
      ? { action: 'addStrategy', feature, payload }
      : { action: 'updateStrategy', feature, payload: { id, ...payload } };
  const edit = (changed: StrategyDraft): void => {
    apply.reset();
    setDraft(changed);
  };

  /** Continues with a merged edit. Its base is the stored state that it was merged with, so that the next save does not conflict with that state. */
  const adopt = (merged: Json, later: Later): void => {
    setBase(later);
    setDraft(merged as StrategyDraft);
    setMerged(true);
    setConflict(undefined);
  };

  /** Reads what another person has saved, and merges both edits by field. */
  const merge = async (): Promise<void> => {
    if (base.draft === undefined || id === undefined) return;
    const params = { projectId: project, featureName: feature, environment, strategyId: id };
    const theirs = await callWithEntityTag(GetStrategy, { params });
    const theirDraft = strategyDraftOf(theirs.value);
    const { merged, conflicts } = mergeChanges(base.draft, draft, theirDraft);
    const later = { draft: theirDraft, entityTag: theirs.entityTag };
    if (conflicts.length > 0) setConflict({ merged: merged as Json, conflicts, later });
    else adopt(merged as Json, later);
  };

  const save = async (isDirect = false): Promise<void> => {
    try {
      const outcome = await apply.mutateAsync({ environment, changes: [change], ifMatch: base.entityTag, isDirect });
      setDone(true);
      notify(outcome.kind === 'made' ? strategyMessages.saved : flagMessages.proposed(environment));
      await client.invalidateQueries({ queryKey: [GetFeature.operationId] });
      void navigate({ to: '/projects/$project/features/$feature', params: { project, feature }, ignoreBlocker: true });
    } catch (error) {
      if (error instanceof ApiError && error.kind === 'PreconditionFailed') await merge();
    }
  };

  const error = apply.error?.kind === 'PreconditionFailed' ? null : apply.error;
  return (
    <Page
      title={id === undefined ? strategyMessages.newTitle(environment) : strategyMessages.title(environment)}
      crumbs={[
        <Link key="project" to="/projects/$project/flags" params={{ project }}>
          {project}
        </Link>,
        <Link key="flag" to="/projects/$project/features/$feature" params={{ project, feature }}>
          {feature}
        </Link>,
      ]}
      marks={isProtected && <Badge tone="accent">{flagMessages.protected}</Badge>}
      actions={
        <Button onPress={() => setJson(!isJson)} aria-pressed={isJson}>
          {isJson ? strategyMessages.hideJson : strategyMessages.showJson}
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
          {wasMerged && <Notice tone="warning">{strategyMessages.merged}</Notice>}
          <section className={layout['card']}>
            <TextField
              label={strategyMessages.strategyTitle}
              hint={strategyMessages.titleHint}
              value={draft.title}
              onChange={(title) => edit({ ...draft, title })}
            />
            <Switch isSelected={!draft.disabled} onChange={(on) => edit({ ...draft, disabled: !on })}>
              {strategyMessages.active}
            </Switch>
          </section>
          <StrategyTypeFields draft={draft} onChange={edit} />
          <SegmentFields draft={draft} onChange={edit} />
          <ConstraintsEditor
            constraints={draft.constraints}
            onChange={(constraints) => edit({ ...draft, constraints })}
          />
          <Suspense fallback={<Loading />}>
            <VariantsEditor
              variants={draft.variants}
              stickiness={draft.parameters['stickiness'] ?? 'default'}
              onChange={(variants) => edit({ ...draft, variants })}
            />
          </Suspense>
          {error !== null && <ErrorNotice error={error} />}
          <DirectNotice
            protection={protection}
            isPending={apply.isPending}
            isDisabled={!isChanged}
            label={protectionMessages.saveDirectly}
            onDirect={() => void save(true)}
          />
          <div className={layout['actions']}>
            <Button type="submit" variant="primary" isPending={apply.isPending} isDisabled={!isChanged}>
              {isProtected ? flagMessages.propose : messages.common.save}
            </Button>
            <Link to="/projects/$project/features/$feature" params={{ project, feature }} className={buttonClass()}>
              {messages.common.cancel}
            </Link>
          </div>
        </form>
        <div className={styles['side']}>
          <Suspense fallback={<Loading />}>
            <ImpactPanel
              project={project}
              environment={environment}
              isEnabled={isEnabled}
              changes={isChanged ? [change] : []}
              before={
                stored === undefined ? undefined : strategySentence(strategyBodyOf(base.draft ?? draft), segmentNames)
              }
              after={strategySentence(payload, segmentNames)}
              widensToEverybody={
                reachesEverybody(payload) && !(base.draft !== undefined && reachesEverybody(strategyBodyOf(base.draft)))
              }
            />
          </Suspense>
          {isJson && <JsonSection draft={draft} onChange={edit} />}
        </div>
      </div>
      {conflict !== undefined && (
        <Suspense>
          <MergeDialog
            merged={conflict.merged}
            conflicts={conflict.conflicts}
            onClose={() => setConflict(undefined)}
            onMerge={(merged) => adopt(merged, conflict.later)}
          />
        </Suspense>
      )}
      {blocker.status === 'blocked' && (
        <ConfirmDialog
          title={strategyMessages.leaveTitle}
          confirm={strategyMessages.leave}
          isDangerous
          onClose={blocker.reset}
          onConfirm={blocker.proceed}
        >
          <p>{strategyMessages.leaveHelp}</p>
        </ConfirmDialog>
      )}
    </Page>
  );
};

/** Adds or edits one strategy, and previews the effect of the edit before it is saved. */
export const StrategyPage = () => {
  const params = useParams({ strict: false }) as Place & { readonly strategy: string };
  const { project, feature, environment, strategy } = params;
  const isNew = strategy === 'new';
  const flag = useQuery(operationQuery(GetFeature, { params: { projectId: project, featureName: feature } }));
  const stored = useQuery({
    ...operationQueryWithEntityTag(GetStrategy, {
      params: { projectId: project, featureName: feature, environment, strategyId: strategy },
    }),
    enabled: !isNew,
    // What is edited must not change under the hands of the user: a later state is merged when it is saved.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <QueryResult query={flag}>
      {({ environments = [] }) => {
        const isEnabled = environments.find(({ name }) => name === environment)?.enabled ?? false;
        const place = { project, feature, environment, isEnabled };
        if (isNew) return <Editor {...place} stored={undefined} entityTag={undefined} />;
        return (
          <QueryResult query={stored}>
            {({ value, entityTag }) => <Editor key={strategy} {...place} stored={value} entityTag={entityTag} />}
          </QueryResult>
        );
      }}
    </QueryResult>
  );
};
