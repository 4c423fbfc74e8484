import {
  actionsOfWholeProject,
  type ChangeOf,
  type ChangeRequest,
  type ChangeRequestChange,
  type ChangeRequestPreview,
  type ChangeRequestReview,
  DiscardChange,
  EvaluateImpact,
  type FeatureStrategy,
  isClosedState,
  isJsonObject,
  PreviewChangeRequest,
  changeSentence,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, useId } from 'react';
import { operationQuery, useOperationMutation, useSegmentNames } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import layout from '../../components/layout/layout.module.css';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { downloadSegmentList } from '../admin/segments/download-segment-list.ts';
import { lineDiff } from '../events/line-diff.ts';
import { DependentImpact, ImpactGroups, Incompleteness } from '../strategy/impact-groups.tsx';
import { useAffectedEnvironments } from './affected-environments.ts';
import { anchorOf, ChangeComments, type CommentDrafts } from './change-request-comments.tsx';
import styles from './change-requests.module.css';

interface RequestProps {
  readonly request: ChangeRequest;
}

type FeaturePreview = ChangeRequestPreview['features'][number];

/** The strategies of a flag before the request, by id; empty until the preview is loaded. */
function strategiesOf(preview: FeaturePreview | undefined): Readonly<Record<string, FeatureStrategy>> {
  return (preview?.before as { strategies?: Record<string, FeatureStrategy> } | null | undefined)?.strategies ?? {};
}

function formatValue(value: unknown): string {
  return value === undefined ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value);
}

function Fields({ diff }: Pick<FeaturePreview, 'diff'>) {
  return (
    <div role="region" aria-label="Field by field" tabIndex={0} className={styles['json']}>
      <table className={layout['cells']}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {diff.map(({ path, before, after }) => (
            <tr key={path}>
              <td>
                <code>{path}</code>
              </td>
              <td>{formatValue(before)}</td>
              <td>{formatValue(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface BeforeAndAfterProps {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What is replaced and what replaces it, side by side, with the words marked that only one of them has. */
function BeforeAndAfter({ before, after }: BeforeAndAfterProps) {
  const words =
    before === undefined || after === undefined
      ? []
      : lineDiff(before.replace(/\s+/g, '\n'), after.replace(/\s+/g, '\n'));
  const side = (kind: 'removed' | 'added', text: string): React.ReactNode => {
    const Mark = kind === 'removed' ? 'del' : 'ins';
    return words.length === 0
      ? text
      : words
          .filter((word) => word.kind === 'same' || word.kind === kind)
          .map((word, index) => (
            <Fragment key={index}>
              {index > 0 && ' '}
              {word.kind === 'same' ? word.text : <Mark>{word.text}</Mark>}
            </Fragment>
          ));
  };
  return (
    <dl className={styles['sides']}>
      {before !== undefined && (
        <div>
          <dt>Before</dt>
          <dd>{side('removed', before)}.</dd>
        </div>
      )}
      {after !== undefined && (
        <div>
          <dt>After</dt>
          <dd>{side('added', after)}.</dd>
        </div>
      )}
    </dl>
  );
}

/** Downloads the ids of a proposed list, which the change names by their hash alone. */
function ListDownload({ payload }: { readonly payload: unknown }) {
  const { id, root } = payload as ChangeOf<'updateSegmentList'>['payload'];
  if (root === null) return null;
  return (
    <p>
      <Button size="small" onPress={() => void downloadSegmentList(id, root)}>
        Download the proposed ids
      </Button>
    </p>
  );
}

interface ChangesProps extends RequestProps {
  readonly review: ChangeRequestReview;
  readonly drafts: CommentDrafts;
}

interface ChangeViewProps extends ChangesProps {
  readonly change: ChangeRequestChange;
  readonly strategies: Readonly<Record<string, FeatureStrategy>>;
}

function ChangeView({ request, review, drafts, change, strategies }: ChangeViewProps) {
  const segmentNames = useSegmentNames();
  const { sentence, before, after } = changeSentence(change, {
    environment: request.environment,
    strategies,
    segmentNames,
  });
  const discard = useOperationMutation(DiscardChange, 'notified');
  return (
    <li className={styles['change']} id={anchorOf(change)}>
      <div className={layout['bar']}>
        <strong>{sentence}</strong>
        {review.mayEdit && (
          <IconButton
            icon="remove"
            size="small"
            label={`Discard the change “${sentence}”`}
            onPress={() => {
              discard.mutate({
                params: { projectId: request.project, id: request.id, changeId: change.id },
                ifMatch: undefined,
              });
            }}
          />
        )}
      </div>
      {(before !== undefined || after !== undefined) && <BeforeAndAfter before={before} after={after} />}
      {change.action === 'updateSegmentList' && <ListDownload payload={change.payload} />}
      {change.conflict !== undefined && <Notice tone="danger">{change.conflict}</Notice>}
      {(change.overwrites ?? []).map(({ property, snapshot, current, proposed }) => (
        <Notice key={property} tone="warning">
          {property} was {formatValue(snapshot)} when this was proposed and is {formatValue(current)} now; applying
          makes it {formatValue(proposed)}.
        </Notice>
      ))}
      {(change.scheduleConflicts?.changeRequests ?? []).map(({ id, title = `#${id}` }) => (
        <Notice key={id} tone="warning">
          The scheduled change request <bdi>“{title}”</bdi> could not be applied after this.
        </Notice>
      ))}
      <div className={styles['more']}>
        <details>
          <summary className={layout['small']}>
            <span>JSON</span>
          </summary>
          <pre className={styles['json']}>{JSON.stringify(change.payload, null, 2)}</pre>
        </details>
        <ChangeComments request={request} change={change} sentence={sentence} drafts={drafts} />
      </div>
    </li>
  );
}

/** The preview of applying an open request now. */
export function useChangeRequestPreview({ project, id, state }: ChangeRequest) {
  const params = { projectId: project, id };
  return useQuery({ ...operationQuery(PreviewChangeRequest, { params }), enabled: !isClosedState(state) });
}

/** What the request changes, flag by flag and segment by segment, in words and field by field. */
export function ChangeRequestChanges({ request, review, drafts }: ChangesProps) {
  const isOpen = !isClosedState(request.state);
  const preview = useChangeRequestPreview(request);
  return (
    <div className={layout['denseStack']}>
      {isOpen && preview.data?.applicable === false && (
        <Notice tone="danger">This request cannot be applied as it is: see the conflicts at its changes.</Notice>
      )}
      {request.features.map(({ name, changes, conflict, defaultChange }) => {
        const featurePreview = preview.data?.features.find((feature) => feature.name === name);
        return (
          <section key={name} className={layout['card']} aria-label={name}>
            <h2>
              <Link to="/projects/$project/features/$feature" params={{ project: request.project, feature: name }}>
                {name}
              </Link>
            </h2>
            {conflict !== undefined && <Notice tone="danger">{conflict}</Notice>}
            <ul>
              {changes.map((change) => (
                <ChangeView
                  key={change.id}
                  request={request}
                  review={review}
                  drafts={drafts}
                  change={change}
                  strategies={strategiesOf(featurePreview)}
                />
              ))}
            </ul>
            {defaultChange !== undefined && (
              <Notice>
                {defaultChange.action === 'updateEnabled'
                  ? 'Applying turns the flag off, because no active strategy would be left.'
                  : 'Applying adds a strategy for everybody, because the flag would have none.'}
              </Notice>
            )}
            {(preview.isLoading || (featurePreview?.diff.length ?? 0) > 0) && (
              // Its place is kept while it is not known.
              <details inert={preview.isLoading} className={styles['byField']}>
                <summary className={layout['small']}>
                  <span>Field by field</span>
                </summary>
                <Fields diff={featurePreview?.diff ?? []} />
              </details>
            )}
          </section>
        );
      })}
      {request.segments.map(({ id, name, changes }) => (
        <section key={id} className={layout['card']} aria-label={name}>
          <h2>Segment {name}</h2>
          <ul>
            {changes.map((change) => (
              <ChangeView
                key={change.id}
                request={request}
                review={review}
                drafts={drafts}
                change={change}
                strategies={{}}
              />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function withoutSnapshot(payload: unknown): unknown {
  if (!isJsonObject(payload)) return payload;
  const { snapshot: _, ...rest } = payload;
  return rest;
}

const ofWholeProject: ReadonlySet<string> = new Set(actionsOfWholeProject);

/** What one environment sees of the changes of a request: beyond its own environment, those alone that affect all of the project. */
function changesIn(environment: string, request: ChangeRequest) {
  const changes = [
    ...request.features.flatMap(({ name, changes: featureChanges }) =>
      featureChanges.map(({ action, payload }) => ({ action, feature: name, payload: withoutSnapshot(payload) })),
    ),
    ...request.segments.flatMap(({ changes: segmentChanges }) =>
      segmentChanges.map(({ action, payload }) => ({ action, payload: withoutSnapshot(payload) })),
    ),
  ];
  if (environment === request.environment) return changes;
  return changes.filter(({ action }) => ofWholeProject.has(action));
}

interface ImpactProps extends RequestProps {
  readonly environment: string;
  /** whether the request affects others, too */
  readonly isOneOfSeveral: boolean;
  /** what the playground shows: the environments with a comma between them; undefined where there is no link to it */
  readonly tried: string | undefined;
}

/** The users of an environment for whom the change request would turn flags on or off if it were applied now. */
function ImpactIn({ request, environment, isOneOfSeveral, tried }: ImpactProps) {
  const { project } = request;
  const headingId = useId();
  const body = { project, environment, changes: changesIn(environment, request) };
  const query = useQuery(operationQuery(EvaluateImpact, { body }));
  const preview = useChangeRequestPreview(request);
  const isOff = (name: string): boolean =>
    environment === request.environment &&
    preview.data?.features.find((feature) => feature.name === name)?.after?.['enabled'] === false;
  const names = request.features.map(({ name }) => name);
  // In the order of the changes; flags that depend on theirs follow.
  const placeOf = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  return (
    <section className={layout['card']} aria-labelledby={headingId}>
      <h2 id={headingId}>
        What it does for users
        {isOneOfSeveral && (
          <>
            {' in '}
            <EnvironmentName name={environment} />
          </>
        )}
      </h2>
      <QueryResult query={query}>
        {({ features }) => (
          <>
            {features
              .toSorted((one, other) => placeOf(one.name) - placeOf(other.name))
              .map((feature) =>
                feature.dependsOn === undefined ? (
                  <div key={feature.name} className={layout['denseStack']}>
                    <h3>{feature.name}</h3>
                    <ImpactGroups
                      groups={feature.groups}
                      label={feature.name}
                      offIn={isOff(feature.name) ? environment : undefined}
                    />
                    <Incompleteness isComplete={feature.isComplete} />
                  </div>
                ) : (
                  <DependentImpact key={feature.name} {...feature} />
                ),
              )}
          </>
        )}
      </QueryResult>
      {tried !== undefined && (
        <Link
          to="/playground"
          search={{ changeRequest: String(request.id), projects: project, environments: tried }}
          className={styles['onScreen'] ?? ''}
        >
          Try it in the playground
        </Link>
      )}
    </section>
  );
}

/** What a change request does for users: of production, where it affects that, and of its own environment. */
export function ChangeRequestImpact({ request }: RequestProps) {
  const affected = useAffectedEnvironments(request);
  const [first = request.environment] = affected;
  const changesOwn = changesIn(request.environment, request).some(({ action }) => !ofWholeProject.has(action));
  const shown = changesOwn && first !== request.environment ? [first, request.environment] : [first];
  return shown.map((environment, nth) => (
    <ImpactIn
      key={environment}
      request={request}
      environment={environment}
      isOneOfSeveral={affected.length > 1}
      tried={nth === shown.length - 1 ? affected.join() : undefined}
    />
  ));
}
