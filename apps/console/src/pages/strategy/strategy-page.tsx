import { GetFeature, GetStrategy, reachesEverybody, strategySentence } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Suspense, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { operationQuery, operationQueryWithEntityTag, useSegmentNames } from '../../api/queries-and-mutations.ts';
import { basePath } from '../../base-path.ts';
import {
  type EditProtection,
  SkipChangeRequestNotice,
  useEditProtection,
  useMayEdit,
} from '../../changes/edit-protection.tsx';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading, QueryResult } from '../../components/content/query-result.tsx';
import { PersonName } from '../../components/content/person-name.tsx';
import { Time } from '../../components/content/time.tsx';
import { openEnvironment } from '../../components/environments/environment-preference.ts';
import { LeaveQuestion } from '../../components/dialogs/leave-question.tsx';
import { MergeConflictDialog } from '../../components/dialogs/merge-conflict-dialog.tsx';
import { Switch, TextField } from '../../components/forms/fields.tsx';
import { usePageActions } from '../../shell/page-actions.ts';
import layout from '../../components/layout/layout.module.css';
import { Page } from '../../components/layout/page.tsx';
import { strategyBodyOf } from '../../strategies/strategy-draft.ts';
import { flagCrumbs } from '../flag/flag-crumbs.tsx';
import { ConstraintsEditor } from './constraints-editor.tsx';
import { SegmentPicker } from './segment-picker.tsx';
import { type ExampleUser, parseExampleUsers } from './strategy-inputs.ts';
import { StrategyTypeFields } from './strategy-type-fields.tsx';
import { missingPermission } from '../../text/permission-words.ts';
import styles from './strategy.module.css';
import { useExampleMatches } from './use-example-matches.ts';
import { useValueQuestion } from './use-value-question.ts';
import {
  type LoadedStrategy,
  type SavedEdit,
  type StrategyEdit,
  type StrategyLocation,
  useNewestEdit,
  useStrategyEdit,
} from './use-strategy-edit.ts';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const VariantsEditor = lazyPart(() => import('./variants-editor.tsx').then(({ VariantsEditor }) => VariantsEditor));

interface StrategyFormProps {
  readonly strategyLocation: StrategyLocation;
  readonly strategyEdit: StrategyEdit;
  readonly protection: EditProtection;
  readonly maySave: boolean;
  /** whether it can be turned on with the strategy, since it is off */
  readonly mayTurnOn: boolean;
  readonly examples: readonly ExampleUser[];
}

/** The fields of a strategy, and the buttons that save it or, in a protected environment, propose it. */
function StrategyForm(props: StrategyFormProps) {
  const { strategyLocation, strategyEdit, protection, maySave, mayTurnOn, examples } = props;
  const { project, feature } = strategyLocation;
  const verb = protection.environments.length > 0 ? 'Propose' : 'Save';
  const { draft, edit, isChanged, isPending, error } = strategyEdit;
  const question = useValueQuestion();
  const matches = useExampleMatches(strategyLocation, draft.constraints, examples);
  /** Saves the draft or, where a constraint has no value, asks for that. */
  const save: StrategyEdit['save'] = async (options) => {
    if (question.requireValues(draft.constraints)) await strategyEdit.save(options);
  };
  const canSave = maySave && isChanged && !isPending;
  const canTurnOn = mayTurnOn && isChanged && !isPending;
  usePageActions([
    ...(canSave ? [{ id: 'strategy.save', title: verb, key: 'Ctrl Enter', run: () => void save() }] : []),
    ...(canTurnOn
      ? [
          {
            id: 'strategy.turn-on',
            title: `${verb} and turn on`,
            key: 'Ctrl Shift Enter',
            run: () => void save({ turnsOn: true }),
          },
        ]
      : []),
  ]);
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (maySave) void save();
      }}
    >
      {strategyEdit.wasMerged && (
        <Notice tone="warning">
          Another person has saved this strategy meanwhile. Both edits are combined here: check them, and save again.
        </Notice>
      )}
      <section className={layout['card']}>
        <TextField
          label="Title"
          hint="Optional: why this strategy exists."
          value={draft.title}
          onChange={(title) => edit({ ...draft, title })}
        />
        <Switch isSelected={!draft.disabled} onChange={(on) => edit({ ...draft, disabled: !on })}>
          Active
        </Switch>
      </section>
      <StrategyTypeFields draft={draft} onChange={edit} />
      <SegmentPicker project={project} draft={draft} onChange={edit} />
      <ConstraintsEditor
        constraints={draft.constraints}
        question={question}
        notes={matches}
        onChange={(constraints) => edit({ ...draft, constraints })}
      />
      <Suspense fallback={<Loading />}>
        <VariantsEditor
          variants={draft.variants}
          stickiness={draft.parameters['stickiness'] ?? 'default'}
          onChange={(variants) => edit({ ...draft, variants })}
        />
      </Suspense>
      <SkipChangeRequestNotice
        protection={protection}
        isPending={isPending}
        isDisabled={!isChanged}
        label="Save directly"
        onDirect={() => void save({ isDirect: true })}
      />
      <div className={styles['footer']} data-sticky>
        <ErrorNotice error={error} />
        <div className={layout['actions']}>
          {maySave && (
            <Button type="submit" variant="primary" isPending={isPending} isDisabled={!isChanged}>
              {verb}
            </Button>
          )}
          {mayTurnOn && (
            <Button isPending={isPending} isDisabled={!isChanged} onPress={() => void save({ turnsOn: true })}>
              {verb} and turn on
            </Button>
          )}
          <Link to="/projects/$project/features/$feature" params={{ project, feature }} className={buttonClass()}>
            {maySave ? 'Cancel' : 'Back to the flag'}
          </Link>
        </div>
      </div>
    </form>
  );
}

const ImpactPanel = lazyPart(() => import('./impact-panel.tsx').then(({ ImpactPanel }) => ImpactPanel));
const JsonSection = lazyPart(() => import('./json-section.tsx').then(({ JsonSection }) => JsonSection));

interface StrategyImpactProps extends Pick<
  React.ComponentProps<typeof ImpactPanel>,
  'isEnabled' | 'exampleText' | 'examples' | 'onExampleText'
> {
  readonly strategyLocation: StrategyLocation;
  readonly strategyEdit: StrategyEdit;
}

/** The users whom the strategy reaches before and after the edit. */
function StrategyImpact({ strategyLocation, strategyEdit, ...shown }: StrategyImpactProps) {
  const { draft, storedDraft, change, isChanged } = strategyEdit;
  const segmentNames = useSegmentNames();
  const before = storedDraft && strategyBodyOf(storedDraft);
  const after = strategyBodyOf(draft);
  return (
    <Suspense fallback={<Loading />}>
      <ImpactPanel
        project={strategyLocation.project}
        environment={strategyLocation.environment}
        {...shown}
        changes={isChanged ? [change] : []}
        before={before && strategySentence(before, segmentNames)}
        after={strategySentence(after, segmentNames)}
        widensToEverybody={reachesEverybody(after) && !(before !== undefined && reachesEverybody(before))}
      />
    </Suspense>
  );
}

interface OtherEditNoticeProps {
  readonly otherEdit: NonNullable<StrategyEdit['otherEdit']>;
  readonly onTakeOver: () => void;
}

/** Says at once that somebody else has saved the strategy, and what. */
function OtherEditNotice({
  otherEdit: { eventId, createdBy, createdByUserId, at, saved },
  onTakeOver,
}: OtherEditNoticeProps) {
  const segmentNames = useSegmentNames();
  return (
    <div role="status">
      <Notice
        tone="warning"
        actions={
          <div className={layout['actions']}>
            {saved !== undefined && (
              <Button size="small" onPress={onTakeOver}>
                Take it over
              </Button>
            )}
            <a href={`${basePath}/events?q=id:${eventId}`} target="_blank" rel="noreferrer">
              Show what changed
            </a>
          </div>
        }
      >
        <PersonName id={createdByUserId} login={createdBy} />{' '}
        {saved === undefined ? 'deleted this strategy' : 'saved this strategy'} <Time at={at} />
        {saved === undefined ? '.' : `: ${strategySentence(saved, segmentNames)}.`}
        {saved !== undefined && ' If you take it over, your changes stay where you two did not change the same field.'}
      </Notice>
    </div>
  );
}

interface StrategyEditorProps extends LoadedStrategy {
  readonly strategyLocation: StrategyLocation;
  readonly newestEdit: SavedEdit | undefined;
  readonly isEnabled: boolean;
}

function StrategyEditor({ strategyLocation, isEnabled, newestEdit, ...loaded }: StrategyEditorProps) {
  const { project, feature, environment } = strategyLocation;
  const strategyEdit = useStrategyEdit(strategyLocation, loaded, newestEdit);
  const protection = useEditProtection(project, environment);
  const isProtected = protection.environments.length > 0;
  const mayEdit = useMayEdit(project);
  const permission = strategyEdit.isNew ? 'CREATE_FEATURE_STRATEGY' : 'UPDATE_FEATURE_STRATEGY';
  const maySave = mayEdit(permission, environment);
  const [isJson, setJson] = useState(false);
  const [exampleText, setExampleText] = useState('');
  const deferredText = useDeferredValue(exampleText);
  const examples = useMemo(() => parseExampleUsers(deferredText), [deferredText]);
  const { conflict } = strategyEdit;
  return (
    <Page
      title={strategyEdit.isNew ? `New strategy in ${environment}` : `Strategy in ${environment}`}
      crumbs={[
        ...flagCrumbs(project),
        <Link
          key="flag"
          to="/projects/$project/features/$feature"
          params={{ project, feature }}
          activeOptions={{ exact: true }}
        >
          {feature}
        </Link>,
      ]}
      titleExtras={isProtected && <Badge tone="accent">protected</Badge>}
      actions={
        <Button onPress={() => setJson(!isJson)} aria-pressed={isJson}>
          {isJson ? 'Hide JSON' : 'Show JSON'}
        </Button>
      }
    >
      {strategyEdit.otherEdit !== undefined && conflict === undefined && (
        <OtherEditNotice otherEdit={strategyEdit.otherEdit} onTakeOver={() => void strategyEdit.takeOver()} />
      )}
      {!maySave && !protection.isLoading && (
        <Notice>
          You can try here what an edit would do, but not save it: that takes {missingPermission([permission])}.
        </Notice>
      )}
      <div className={styles['layout']}>
        <StrategyForm
          strategyLocation={strategyLocation}
          strategyEdit={strategyEdit}
          protection={protection}
          maySave={maySave}
          mayTurnOn={!isEnabled && maySave && mayEdit('UPDATE_FEATURE_ENVIRONMENT', environment)}
          examples={examples}
        />
        <div className={styles['side']}>
          <StrategyImpact
            strategyLocation={strategyLocation}
            strategyEdit={strategyEdit}
            isEnabled={isEnabled}
            exampleText={exampleText}
            examples={examples}
            onExampleText={setExampleText}
          />
          {isJson && (
            <Suspense fallback={<Loading />}>
              <JsonSection draft={strategyEdit.draft} onChange={strategyEdit.edit} />
            </Suspense>
          )}
        </div>
      </div>
      {conflict !== undefined && (
        <MergeConflictDialog
          merged={conflict.merged}
          conflicts={conflict.conflicts}
          savedBy={strategyEdit.otherEdit}
          onClose={strategyEdit.cancelConflict}
          onMerge={strategyEdit.resolveConflict}
        />
      )}
      <LeaveQuestion isUnsaved={strategyEdit.isUnsaved} />
    </Page>
  );
}

/** Adds or edits one strategy, and previews the effect of the edit before it is saved. */
export function StrategyPage() {
  const params = useParams({ strict: false }) as StrategyLocation & { readonly strategy: string };
  const { project, feature, environment, strategy } = params;
  const isNew = strategy === 'new';
  const newestEdit = useNewestEdit(params, strategy);
  // The page of the flag, to which everything leads from here, shows it.
  useEffect(() => openEnvironment(environment), [environment]);
  const flag = useQuery(operationQuery(GetFeature, { params: { projectId: project, featureName: feature } }));
  const stored = useQuery({
    ...operationQueryWithEntityTag(GetStrategy, {
      params: { projectId: project, featureName: feature, environment, strategyId: strategy },
    }),
    enabled: !isNew,
    // Not read again while the user edits it: what others save meanwhile is merged when the user saves.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <QueryResult query={flag} page="flag" crumbs={flagCrumbs(project)} isForm>
      {({ environments = [] }) => {
        const { enabled: isEnabled = false, type } = environments.find(({ name }) => name === environment) ?? {};
        // Nobody in production gets a flag because somebody has overlooked a slider.
        const firstRollout = type === 'production' ? 0 : 100;
        const editor = { strategyLocation: { project, feature, environment }, isEnabled, firstRollout, newestEdit };
        if (isNew) return <StrategyEditor {...editor} stored={undefined} entityTag={undefined} />;
        return (
          <QueryResult query={stored} page="strategy" crumbs={flagCrumbs(project)} isForm>
            {({ value, entityTag }) => (
              <StrategyEditor key={strategy} {...editor} stored={value} entityTag={entityTag} />
            )}
          </QueryResult>
        );
      }}
    </QueryResult>
  );
}
