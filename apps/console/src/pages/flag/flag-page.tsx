import {
  AddFavoriteFeature,
  type Feature,
  type FeatureEnvironment,
  GetFeature,
  ListNewestEventsOfFeature,
  ListPendingOfFeature,
  RemoveFavoriteFeature,
  SearchFeatures,
  strategySentence,
} from '@bunting/contracts';
import { usePrefetchQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { useEventBatches } from '../../api/event-feed.ts';
import { changeRequestConfigQuery, useMayEdit } from '../../changes/edit-protection.tsx';
import { operationQuery, useOperationMutation, useSegmentNames } from '../../api/queries-and-mutations.ts';
import { buttonClass, IconButton } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { QueryResult, Loading } from '../../components/content/query-result.tsx';
import { useProjectName } from '../../components/content/project-name.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { EnvironmentsButton } from '../../components/environments/environments-button.tsx';
import { Select } from '../../components/forms/selects.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { useKeptPage } from '../../components/dialogs/unfinished-forms.tsx';
import { Page } from '../../components/layout/page.tsx';
import { EventSummary } from '../../components/content/event-summary.tsx';
import { PersonName } from '../../components/content/person-name.tsx';
import { Time } from '../../components/content/time.tsx';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { usePageActions } from '../../shell/page-actions.ts';
import { rolloutTypes, shareAnchor } from '../../strategies/strategy-type-names.ts';
import { formatCount } from '../../text/format-number.ts';
import { shortSummary } from '../../text/short-summary.ts';
import { notifyError } from '../../shell/toasts.tsx';
import { ConnectSdkButton } from '../connect/connect-sdk-button.tsx';
import { EnvironmentColumn } from './environment-column.tsx';
import { flagCrumbs } from './flag-crumbs.tsx';
import { useEnvironmentFolds } from './environment-folds.ts';
import { FlagMenu } from './flag-menu.tsx';
import { NextSteps } from './next-steps.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './flag.module.css';
import { lazyPart } from '../../components/content/lazy-part.tsx';
import { unbroken } from '../../text/unbroken.ts';

const FlagDetails = lazyPart(() => import('./flag-details.tsx').then(({ FlagDetails }) => FlagDetails));
const UsagePanel = lazyPart(() => import('./usage-panel.tsx').then(({ UsagePanel }) => UsagePanel));

interface FlagPartProps {
  readonly feature: Feature;
  readonly project: string;
}

/** Environments are compared with production, or with the last one. */
function comparedByDefault(environments: readonly FeatureEnvironment[]): FeatureEnvironment | undefined {
  return environments.find(({ type }) => type === 'production') ?? environments.at(-1);
}

/** Milliseconds for which an environment may be invisible at most, while what is above it is loading. */
const maxInvisibleMs = 3_000;

/** Focuses an element as soon as it is there and visible, unless its user has gone somewhere else meanwhile. Returns what ends the wait. */
function focusWhenVisible(find: () => HTMLElement | null): () => void {
  const [before, began] = [document.activeElement, performance.now()];
  let frame = 0;
  const tryIt = (): void => {
    const { activeElement } = document;
    if (activeElement !== before && activeElement?.matches('body, h1') !== true) return;
    const element = find();
    element?.focus({ preventScroll: true });
    if ((element === null || document.activeElement !== element) && performance.now() - began < maxInvisibleMs)
      frame = requestAnimationFrame(tryIt);
  };
  tryIt();
  return () => cancelAnimationFrame(frame);
}

function Environments({ feature, project }: FlagPartProps) {
  const { environments = [] } = feature;
  const [referenceName, setReferenceName] = useState<string | undefined>();
  const reference = environments.find(({ name }) => name === referenceName) ?? comparedByDefault(environments);
  const segmentNames = useSegmentNames();
  const { shown, foldOf, followed } = useEnvironmentFolds(feature, project);
  const columns = useRef<HTMLDivElement>(null);
  const production = shown.findIndex(({ type }) => type === 'production');
  usePageActions(
    production < 0
      ? []
      : [
          {
            id: 'flag.production',
            title: `Go to the switch of ${shown[production]?.name}`,
            key: 'p',
            run: () => columns.current?.children[production]?.querySelector('input')?.focus(),
          },
        ],
  );
  const { isPending } = useQuery(changeRequestConfigQuery(project));
  const isFolded = foldOf !== undefined;
  const followedIndex = shown.findIndex(({ name }) => name === followed);
  useEffect(() => {
    const column = isPending ? undefined : columns.current?.children[followedIndex];
    column?.scrollIntoView({ block: 'nearest' });
    return column && isFolded ? focusWhenVisible(() => column.querySelector<HTMLElement>('h3 button')) : undefined;
  }, [isPending, followedIndex, isFolded]);
  if (isPending) return <div hidden data-loading />;
  if (environments.length === 0) return <Notice>The project of this flag has no environment.</Notice>;
  return (
    <section className={styles['section']} aria-labelledby="environments">
      <div className={styles['sectionHead']}>
        <h2 id="environments">Environments</h2>
        <div className={styles['badges']}>
          <EnvironmentsButton environments={environments} shown={shown} />
          {environments.length > 1 && (
            <Select
              label="Compare with"
              options={environments.map(({ name }) => ({ id: name, label: name }))}
              value={reference?.name ?? null}
              onChange={setReferenceName}
            />
          )}
        </div>
      </div>
      <div
        ref={columns}
        className={foldOf === undefined ? styles['columns'] : styles['folds']}
        role="group"
        aria-label="The flag in each environment"
      >
        {shown.map((environment) => (
          <EnvironmentColumn
            key={environment.name}
            feature={feature}
            project={project}
            environment={environment}
            segmentNames={segmentNames}
            fold={foldOf?.(environment)}
            reference={environment.name === reference?.name ? undefined : reference}
            others={environments.map(({ name }) => name).filter((name) => name !== environment.name)}
          />
        ))}
      </div>
    </section>
  );
}

function Proposals({ feature, project }: FlagPartProps) {
  const { data = [], isPending } = useQuery(
    operationQuery(ListPendingOfFeature, { params: { projectId: project, featureName: feature.name } }),
  );
  if (isPending) return <div hidden data-loading />;
  if (data.length === 0) return null;
  return (
    <section className={styles['section']} aria-labelledby="proposals">
      <h2 id="proposals">Proposed changes</h2>
      <ul className={styles['history']}>
        {data.map(({ id, title, environment, state, createdBy, createdAt }) => (
          <li key={id}>
            <span>
              <Link to="/projects/$project/change-requests/$id" params={{ project, id: String(id) }}>
                {title ?? `Change request #${id}`}
              </Link>{' '}
              by <PersonName id={createdBy.id} login={createdBy.username ?? 'a deleted user'} />, for {environment}
            </span>
            <span>
              <Badge tone={state === 'Approved' ? 'good' : 'accent'}>{state}</Badge> <Time at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const maxShownEvents = 20;

function History({ feature }: FlagPartProps) {
  const query = useQuery(operationQuery(ListNewestEventsOfFeature, { params: { featureName: feature.name } }));
  if (query.data?.events.length === 0) return null;
  return (
    <section className={styles['section']} aria-labelledby="history">
      <div className={styles['sectionHead']}>
        <h2 id="history">History</h2>
        <Link to="/events" search={{ q: `feature:${feature.name}` }}>
          All events
        </Link>
      </div>
      <QueryResult query={query}>
        {({ events }) => (
          <ol className={styles['history']}>
            {events.slice(0, maxShownEvents).map(({ id, summary, label, type, createdAt, ...event }) => (
              <li key={id}>
                <EventSummary text={shortSummary(summary ?? label ?? type, { feature: feature.name })} by={event} />
                <Link to="/events" search={{ q: `id:${id}` }}>
                  <Time at={createdAt} />
                </Link>
              </li>
            ))}
          </ol>
        )}
      </QueryResult>
    </section>
  );
}

function FavoriteButton({ feature, project }: FlagPartProps) {
  const params = { projectId: project, featureName: feature.name };
  const add = useOperationMutation(AddFavoriteFeature, 'handled');
  const remove = useOperationMutation(RemoveFavoriteFeature, 'handled');
  const isFavorite = feature.favorite === true;
  return (
    <IconButton
      icon="star"
      filled={isFavorite}
      label={isFavorite ? 'Remove from the favourites' : 'Add to the favourites'}
      onPress={() => (isFavorite ? remove : add).mutate({ params }, { onError: notifyError })}
    />
  );
}

/** The page of a flag that is not active in the project: its history and, if it is archived, a menu to revive it. */
function AbsentFlag({ name, project }: { readonly name: string; readonly project: string }) {
  const projectName = useProjectName(project);
  const query = useQuery(
    operationQuery(SearchFeatures, { query: { archived: 'IS:true', project: `IS:${project}`, query: name } }),
  );
  return (
    <QueryResult query={query}>
      {({ features }) => {
        const isArchived = features.some((feature) => feature.name === name);
        const feature: Feature = { name, archived: isArchived };
        return (
          <Page
            title={name}
            crumbs={flagCrumbs(project)}
            titleExtras={isArchived && <Badge tone="warning">archived</Badge>}
            actions={isArchived && <FlagMenu feature={feature} project={project} />}
          >
            <Notice tone="warning">
              {isArchived
                ? 'This flag is archived: SDKs do not receive it. Revive it before you change it.'
                : `There is no such flag in the project ${projectName}. It may have been moved or deleted.`}
            </Notice>
            <History feature={feature} project={project} />
          </Page>
        );
      }}
    </QueryResult>
  );
}

/** The environments for which a flag's page leads to a new strategy at once: production first. */
function mainEnvironments(environments: readonly FeatureEnvironment[]): readonly FeatureEnvironment[] {
  const isProduction = ({ type }: FeatureEnvironment): boolean => type === 'production';
  return [...environments.filter(isProduction), ...environments.filter((one) => !isProduction(one))].slice(0, 3);
}

/** What people do most with a flag: by keyboard right behind its title, by a key, and in the palette. */
function Shortcuts({ feature: { name, archived, environments = [] }, project }: FlagPartProps) {
  const navigate = useNavigate();
  const mayEdit = useMayEdit(project);
  const shown = mainEnvironments(environments).filter(
    ({ name: environment }) => archived !== true && mayEdit('CREATE_FEATURE_STRATEGY', environment),
  );
  const to = '/projects/$project/features/$feature/environments/$environment/strategies/$strategy';
  const paramsOf = (environment: string) => ({ project, feature: name, environment, strategy: 'new' });
  const rollouts = mainEnvironments(environments).flatMap(({ name: environment, type, strategies = [] }) => {
    const [rollout, ...others] = strategies.filter((strategy) => rolloutTypes.has(strategy.name));
    const permission = rollout === undefined ? 'CREATE_FEATURE_STRATEGY' : 'UPDATE_FEATURE_STRATEGY';
    // Of several, none is the share of the flag there.
    const isOffered =
      archived !== true && type === 'production' && others.length === 0 && mayEdit(permission, environment);
    return isOffered ? [{ environment, strategy: rollout?.id ?? 'new' }] : [];
  });
  usePageActions([
    ...shown.map(({ name: environment }, nth) => ({
      id: `flag.strategy.${environment}`,
      title: `Add a strategy in ${environment}`,
      ...(nth === 0 && { key: 's' }),
      run: () => void navigate({ to, params: paramsOf(environment) }),
    })),
    ...rollouts.map(({ environment, strategy }) => ({
      id: `flag.rollout.${environment}`,
      title: `Roll out to … in ${environment}`,
      run: () => void navigate({ to, params: { ...paramsOf(environment), strategy }, hash: shareAnchor }),
    })),
  ]);
  return (
    <nav aria-label="Shortcuts" className={styles['shortcuts']}>
      {shown.map(({ name: environment }) => (
        <Link key={environment} to={to} params={paramsOf(environment)}>
          Add a strategy in {environment}
        </Link>
      ))}
    </nav>
  );
}

/** Who gets the flag in production, and who changed that last: what one looks for first, in one line. */
function StatusLine({ feature: { name, environments = [] } }: Pick<FlagPartProps, 'feature'>) {
  const segmentNames = useSegmentNames();
  const { data } = useQuery(operationQuery(ListNewestEventsOfFeature, { params: { featureName: name } }));
  const production = environments.filter(({ type }) => type === 'production');
  const [first, ...others] = production;
  if (first === undefined) return null;
  const on = production.filter(({ enabled }) => enabled);
  const active = (first.strategies ?? []).filter(({ disabled }) => disabled !== true);
  const sentence =
    active.length === 1 && active[0] !== undefined ? unbroken(strategySentence(active[0], segmentNames)) : '';
  const changed = data?.events.find(({ environment }) => production.some((one) => one.name === environment));
  return (
    <p className={styles['status']}>
      {others.length > 0 ? (
        `On in ${on.length} of ${formatCount(production.length, 'production environment')}`
      ) : (
        <>
          {first.enabled ? 'On in ' : 'Off in '}
          <EnvironmentName name={first.name} type={first.type} />
          {first.enabled &&
            `: ${sentence === '' ? formatCount(active.length, 'strategy', 'strategies') : sentence.charAt(0).toLowerCase() + sentence.slice(1)}`}
        </>
      )}
      {changed !== undefined && (
        <>
          {' · changed '}
          <Time at={changed.createdAt} /> by <PersonName id={changed.createdByUserId} login={changed.createdBy} />
        </>
      )}
    </p>
  );
}

const stageNames: Readonly<Record<string, string>> = { initial: 'not used yet', 'pre-live': 'not in production yet' };

function FlagView({ feature, project }: FlagPartProps) {
  const { name, type, stale, lifecycle } = feature;
  return (
    <Page
      title={name}
      crumbs={flagCrumbs(project)}
      titleExtras={
        <>
          <Shortcuts feature={feature} project={project} />
          <FavoriteButton feature={feature} project={project} />
          <span className={styles['badges']}>
            <Badge>{type}</Badge>
            {lifecycle !== undefined && <Badge>{stageNames[lifecycle.stage] ?? lifecycle.stage}</Badge>}
            {stale === true && <Badge tone="warning">stale</Badge>}
          </span>
        </>
      }
      actions={
        <>
          <Link to="/playground" search={{ flag: name, projects: project }} className={buttonClass()}>
            <Icon name="playground" />
            Try it
          </Link>
          <ConnectSdkButton project={project} flag={name} />
          <FlagMenu feature={feature} project={project} />
        </>
      }
    >
      <div className={styles['body']}>
        <div className={layout['denseStack']}>
          {feature.archived !== true && <StatusLine feature={feature} />}
          <NextSteps feature={feature} project={project} />
          <Proposals feature={feature} project={project} />
          <Environments feature={feature} project={project} />
          <Suspense fallback={<Loading />}>
            <UsagePanel feature={feature} />
          </Suspense>
          <History feature={feature} project={project} />
        </div>
        <Suspense>
          <FlagDetails feature={feature} project={project} />
        </Suspense>
      </div>
    </Page>
  );
}

/** One flag: its environments side by side, its details, its usage and its history. An event that may concern them updates the page. */
export function FlagPage() {
  const { project, feature: name } = useParams({ strict: false }) as { project: string; feature: string };
  const client = useQueryClient();
  const params = { projectId: project, featureName: name };
  const query = useQuery(operationQuery(GetFeature, { params }));
  // What they say stands above other things, which would move when it came later.
  usePrefetchQuery(operationQuery(ListPendingOfFeature, { params }));
  usePrefetchQuery(changeRequestConfigQuery(project));
  useEventBatches(
    ({ featureName, type }) => featureName === name || /^(segment|change|feature-dependenc)/.test(type),
    () => client.invalidateQueries(),
  );
  // The flag may have been deleted or moved while the page was open. While it is asked for again, the page stays, with its open dialog.
  const [absent, setAbsent] = useState<string>();
  const isAbsent = query.isPending
    ? absent === name
    : query.error instanceof ApiError && query.error.kind === 'NotFoundError';
  if (isAbsent !== (absent === name)) setAbsent(isAbsent ? name : undefined);
  const isKept = useKeptPage(isAbsent, 'flag');
  if (isAbsent && !isKept) return <AbsentFlag name={name} project={project} />;
  return (
    <QueryResult query={query} page="flag" crumbs={flagCrumbs(project)}>
      {(feature) => <FlagView feature={feature} project={project} />}
    </QueryResult>
  );
}
