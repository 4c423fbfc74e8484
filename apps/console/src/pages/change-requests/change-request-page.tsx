import {
  AddComment,
  type ChangeRequest,
  type ChangeRequestChange,
  type ChangeRequestPreview,
  ChangeState,
  type ChangeRequestStateBody,
  DiscardChange,
  EvaluateImpact,
  type FeatureStrategy,
  GetChangeRequest,
  ListSegments,
  PreviewChangeRequest,
  RevertChangeRequest,
  SetTitle,
} from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useLiveEvents } from '../../api/live-events.ts';
import { read, useCommand, useMe } from '../../api/queries.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Answer, Badge, ErrorNotice, Notice } from '../../components/content.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { Page } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { strategyMessages } from '../../messages/strategy.ts';
import { changeRequestsMessages } from '../../messages/change-requests.ts';
import { messages } from '../../messages/shared.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { useActions } from '../../shell/actions.ts';
import { changeInWords } from '../../strategies/change-sentence.ts';
import { ImpactGroups } from '../strategy/impact-groups.tsx';
import { StateBadge } from './state-badge.tsx';
import { type Step, stepsOf } from './steps.ts';
import layout from '../../components/layout.module.css';
import styles from './change-requests.module.css';

interface RequestProps {
  readonly request: ChangeRequest;
}

type FeaturePreview = ChangeRequestPreview['features'][number];

const strategiesOf = (preview: FeaturePreview | undefined): Readonly<Record<string, FeatureStrategy>> =>
  (preview?.before as { strategies?: Record<string, FeatureStrategy> } | null | undefined)?.strategies ?? {};

const shown = (value: unknown): string =>
  value === undefined ? changeRequestsMessages.nothing : typeof value === 'string' ? value : JSON.stringify(value);

const Fields = ({ diff }: Pick<FeaturePreview, 'diff'>) => (
  <div role="region" aria-label={changeRequestsMessages.fields} tabIndex={0} className={styles['json']}>
    <table className={layout['cells']}>
      <thead>
        <tr>
          <th scope="col">{changeRequestsMessages.field}</th>
          <th scope="col">{changeRequestsMessages.before}</th>
          <th scope="col">{changeRequestsMessages.after}</th>
        </tr>
      </thead>
      <tbody>
        {diff.map(({ path, before, after }) => (
          <tr key={path}>
            <td>
              <code>{path}</code>
            </td>
            <td>{shown(before)}</td>
            <td>{shown(after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

interface ChangeViewProps extends RequestProps {
  readonly change: ChangeRequestChange;
  readonly strategies: Readonly<Record<string, FeatureStrategy>>;
  readonly isOpen: boolean;
}

const ChangeView = ({ request, change, strategies, isOpen }: ChangeViewProps) => {
  const { data } = useQuery({ ...read(ListSegments, {}), staleTime: 60_000 });
  const segmentNames = new Map((data?.segments ?? []).map(({ id, name }) => [id, name]));
  const { sentence, before, after } = changeInWords(change, {
    environment: request.environment,
    strategies,
    segmentNames,
  });
  const discard = useCommand(DiscardChange, [GetChangeRequest, PreviewChangeRequest]);
  return (
    <li className={styles['change']}>
      <div className={layout['bar']}>
        <strong>{sentence}</strong>
        {isOpen && (
          <IconButton
            icon="remove"
            size="small"
            label={changeRequestsMessages.discardChange(sentence)}
            onPress={() =>
              discard.mutate(
                { params: { projectId: request.project, id: request.id, changeId: change.id } },
                { onError: notifyError },
              )
            }
          />
        )}
      </div>
      {(before !== undefined || after !== undefined) && (
        <dl className={layout['facts']}>
          {before !== undefined && (
            <>
              <dt>{changeRequestsMessages.before}</dt>
              <dd>{before}.</dd>
            </>
          )}
          {after !== undefined && (
            <>
              <dt>{changeRequestsMessages.after}</dt>
              <dd>{after}.</dd>
            </>
          )}
        </dl>
      )}
      {change.conflict !== undefined && <Notice tone="danger">{change.conflict}</Notice>}
      {(change.overwrites ?? []).map(({ property, snapshot, current, proposed }) => (
        <Notice key={property} tone="warning">
          {changeRequestsMessages.overwrites(property, shown(snapshot), shown(current), shown(proposed))}
        </Notice>
      ))}
      {(change.scheduleConflicts?.changeRequests ?? []).map(({ id }) => (
        <Notice key={id} tone="warning">
          {changeRequestsMessages.breaksSchedule(id)}
        </Notice>
      ))}
      <details>
        <summary className={layout['small']}>{changeRequestsMessages.json}</summary>
        <pre className={styles['json']}>{JSON.stringify(change.payload, null, 2)}</pre>
      </details>
    </li>
  );
};

const Changes = ({ request }: RequestProps) => {
  const isOpen = !['Applied', 'Cancelled', 'Rejected'].includes(request.state);
  const params = { projectId: request.project, id: request.id };
  const preview = useQuery({ ...read(PreviewChangeRequest, { params }), enabled: isOpen });
  return (
    <div className={layout['denseStack']}>
      {isOpen && preview.data?.applicable === false && (
        <Notice tone="danger">{changeRequestsMessages.conflicts}</Notice>
      )}
      {request.features.map(({ name, changes, conflict, defaultChange }) => {
        const found = preview.data?.features.find((one) => one.name === name);
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
                  change={change}
                  isOpen={isOpen}
                  strategies={strategiesOf(found)}
                />
              ))}
            </ul>
            {defaultChange !== undefined && (
              <Notice>{changeRequestsMessages.defaultChange(defaultChange.action)}</Notice>
            )}
            {found !== undefined && found.diff.length > 0 && (
              <details>
                <summary className={layout['small']}>{changeRequestsMessages.fields}</summary>
                <Fields diff={found.diff} />
              </details>
            )}
          </section>
        );
      })}
      {request.segments.map(({ id, name, changes }) => (
        <section key={id} className={layout['card']} aria-label={name}>
          <h2>{changeRequestsMessages.segment(name)}</h2>
          <ul>
            {changes.map((change) => (
              <ChangeView key={change.id} request={request} change={change} isOpen={isOpen} strategies={{}} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
};

const withoutSnapshot = (payload: unknown): unknown => {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return payload;
  const { snapshot: _, ...rest } = payload as Record<string, unknown>;
  return rest;
};

/** For whom the request would turn flags on and off if it were applied now. */
const Impact = ({ request }: RequestProps) => {
  const { project, environment } = request;
  const changes = [
    ...request.features.flatMap(({ name, changes: its }) =>
      its.map(({ action, payload }) => ({ action, feature: name, payload: withoutSnapshot(payload) })),
    ),
    ...request.segments.flatMap(({ changes: its }) =>
      its.map(({ action, payload }) => ({ action, payload: withoutSnapshot(payload) })),
    ),
  ];
  const query = useQuery(read(EvaluateImpact, { body: { project, environment, changes } }));
  return (
    <section className={layout['card']} aria-labelledby="impact">
      <h2 id="impact">{changeRequestsMessages.impact}</h2>
      <Answer query={query}>
        {({ features }) => (
          <>
            {features.map(({ name, groups }) => (
              <div key={name} className={layout['denseStack']}>
                <h3>{name}</h3>
                <ImpactGroups groups={groups} label={name} />
              </div>
            ))}
          </>
        )}
      </Answer>
      <Link
        to="/playground"
        search={{ changeRequest: String(request.id), projects: request.project, environments: environment } as never}
      >
        {changeRequestsMessages.tryIt}
      </Link>
    </section>
  );
};

interface TimelineEntry {
  readonly key: string;
  readonly at: string;
  readonly text: string;
  readonly comment?: string;
}

const Timeline = ({ request }: RequestProps) => {
  const { approvals = [], rejections = [], comments = [], stateTimestamps = {}, createdAt, createdBy } = request;
  const entries: readonly TimelineEntry[] = [
    { at: createdAt, text: changeRequestsMessages.createdBy(createdBy.username ?? ''), key: 'created' },
    ...Object.entries(stateTimestamps)
      .filter(([state]) => state !== 'Draft')
      .map(([state, at]) => ({ at: String(at), text: state, key: state })),
    ...approvals.map((one, nth) => ({
      at: one.createdAt,
      text: changeRequestsMessages.approvedBy(one.createdBy.username ?? ''),
      key: `approval-${nth}`,
    })),
    ...rejections.map((one, nth) => ({
      at: one.createdAt,
      text: changeRequestsMessages.rejectedBy(one.createdBy.username ?? ''),
      key: `rejection-${nth}`,
    })),
    ...comments.map((one, nth) => ({
      at: one.createdAt,
      text: changeRequestsMessages.commentBy(one.createdBy.username ?? ''),
      comment: one.text,
      key: `comment-${one.id ?? nth}`,
    })),
  ];
  const sorted = entries.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const [text, setText] = useState('');
  const comment = useCommand(AddComment, [GetChangeRequest]);
  return (
    <section className={layout['card']} aria-labelledby="timeline">
      <h2 id="timeline">{changeRequestsMessages.timeline}</h2>
      <ol className={styles['timeline']}>
        {sorted.map((entry) => (
          <li key={entry.key}>
            <div className={layout['bar']}>
              <span>{entry.text}</span>
              <span className={layout['small']}>
                <Time at={entry.at} />
              </span>
            </div>
            {entry.comment !== undefined && (
              <p className={styles['comment']} dir="auto">
                {entry.comment}
              </p>
            )}
          </li>
        ))}
      </ol>
      <form
        className={layout['denseStack']}
        onSubmit={(event) => {
          event.preventDefault();
          comment.mutate(
            { params: { projectId: request.project, id: request.id }, body: { text } },
            { onSuccess: () => setText('') },
          );
        }}
      >
        <TextField label={changeRequestsMessages.comment} rows={2} value={text} onChange={setText} />
        {comment.error !== null && <ErrorNotice error={comment.error} />}
        <div>
          <Button type="submit" size="small" isPending={comment.isPending} isDisabled={text.trim() === ''}>
            {changeRequestsMessages.addComment}
          </Button>
        </div>
      </form>
    </section>
  );
};

/** Moves the request to another state. The revision that was read goes along: what has changed meanwhile is not approved unseen. */
const Steps = ({ request }: RequestProps) => {
  const [step, setStep] = useState<Step | undefined>();
  const [comment, setComment] = useState('');
  const [time, setTime] = useState('');
  const me = useMe().data?.user.id;
  const navigate = useNavigate();
  const change = useCommand(ChangeState, [GetChangeRequest, PreviewChangeRequest]);
  const revert = useCommand(RevertChangeRequest);
  const params = { projectId: request.project, id: request.id };
  const steps = stepsOf(request.state, request.createdBy.id === me);
  const open = (next: Step): void => {
    change.reset();
    setComment('');
    setTime('');
    setStep(next);
  };
  useActions(
    steps.map((one) => ({
      id: `change-request.${one.id}`,
      title: changeRequestsMessages.steps[one.id],
      ...(one.key === undefined ? {} : { key: one.key }),
      run: () => open(one),
    })),
  );
  const take = async ({ id, state }: Step): Promise<void> => {
    if (state === undefined) {
      const reverting = await revert.mutateAsync({ params });
      notify(changeRequestsMessages.reverted);
      void navigate({
        to: '/projects/$project/change-requests/$id',
        params: { project: reverting.project, id: String(reverting.id) },
      });
    } else {
      const body: ChangeRequestStateBody = {
        state,
        ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
        ...(id === 'schedule' ? { scheduledAt: new Date(time).toISOString() } : {}),
        ...(request.revision === undefined ? {} : { revision: request.revision }),
      };
      await change.mutateAsync({ params, body });
      notify(changeRequestsMessages.done[id]);
    }
    setStep(undefined);
  };
  const error = change.error ?? revert.error;
  return (
    <>
      {steps.map((one, nth) => (
        <Button key={one.id} variant={nth === 0 ? 'primary' : 'secondary'} onPress={() => open(one)}>
          {changeRequestsMessages.steps[one.id]}
        </Button>
      ))}
      {step !== undefined && (
        <Dialog
          title={changeRequestsMessages.steps[step.id]}
          onClose={() => setStep(undefined)}
          onSubmit={(event) => {
            event.preventDefault();
            // What failed is shown in the dialog.
            take(step).catch(() => undefined);
          }}
          footer={
            <>
              <Button onPress={() => setStep(undefined)}>{messages.common.cancel}</Button>
              <Button
                type="submit"
                variant={step.isDangerous === true ? 'danger' : 'primary'}
                isPending={change.isPending || revert.isPending}
                isDisabled={step.id === 'schedule' && Number.isNaN(new Date(time).getTime())}
              >
                {changeRequestsMessages.steps[step.id]}
              </Button>
            </>
          }
        >
          <div className={layout['denseStack']}>
            <p>{changeRequestsMessages.explained[step.id]}</p>
            {step.id === 'schedule' && (
              <TextField
                label={changeRequestsMessages.applyAt}
                hint={strategyMessages.dateHint(Intl.DateTimeFormat().resolvedOptions().timeZone)}
                type="datetime-local"
                value={time}
                onChange={setTime}
                isRequired
                autoFocus
              />
            )}
            {step.state !== undefined && (
              <TextField
                label={changeRequestsMessages.optionalComment}
                rows={2}
                value={comment}
                onChange={setComment}
              />
            )}
            {error !== null && <ErrorNotice error={error} />}
          </div>
        </Dialog>
      )}
    </>
  );
};

const TitleDialog = ({ request, onClose }: RequestProps & { readonly onClose: () => void }) => {
  const [title, setTitle] = useState(request.title ?? '');
  const save = useCommand(SetTitle, [GetChangeRequest]);
  return (
    <Dialog
      title={changeRequestsMessages.editTitle}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(
          { params: { projectId: request.project, id: request.id }, body: { title } },
          { onSuccess: onClose },
        );
      }}
      footer={
        <>
          <Button onPress={onClose}>{messages.common.cancel}</Button>
          <Button type="submit" variant="primary" isPending={save.isPending}>
            {messages.common.save}
          </Button>
        </>
      }
    >
      <TextField label={changeRequestsMessages.title} value={title} onChange={setTitle} isRequired autoFocus />
      {save.error !== null && <ErrorNotice error={save.error} />}
    </Dialog>
  );
};

const RequestView = ({ request }: RequestProps) => {
  const { id, title, project, environment, state, schedule, approvals = [], minApprovals } = request;
  const [isEditing, setEditing] = useState(false);
  const isOpen = !['Applied', 'Cancelled', 'Rejected'].includes(state);
  return (
    <Page
      title={title ?? changeRequestsMessages.untitled(id)}
      crumbs={[
        <Link key="all" to="/change-requests">
          {changeRequestsMessages.page}
        </Link>,
        <Link key="project" to="/projects/$project/flags" params={{ project }}>
          {project}
        </Link>,
      ]}
      marks={
        <>
          <IconButton icon="edit" label={changeRequestsMessages.editTitle} onPress={() => setEditing(true)} />
          <StateBadge state={state} schedule={schedule} />
          <Badge>{environment}</Badge>
          {isOpen && <Badge>{changeRequestsMessages.approvals(approvals.length, minApprovals)}</Badge>}
        </>
      }
      actions={<Steps request={request} />}
    >
      {schedule !== undefined && state === 'Scheduled' && (
        <Notice tone={schedule.status === 'pending' ? 'neutral' : 'danger'}>
          {schedule.status === 'pending' ? changeRequestsMessages.appliesAt : schedule.reason}{' '}
          <Time at={schedule.scheduledAt} isAbsolute />
        </Notice>
      )}
      <div className={styles['layout']}>
        <Changes request={request} />
        <div className={layout['denseStack']}>
          {isOpen && <Impact request={request} />}
          <Timeline request={request} />
        </div>
      </div>
      {isEditing && <TitleDialog request={request} onClose={() => setEditing(false)} />}
    </Page>
  );
};

/** One change request: what it does in words, for whom, what is in its way, and what its reviewers say. */
export const ChangeRequestPage = () => {
  const { project, id } = useParams({ strict: false }) as { project: string; id: string };
  const client = useQueryClient();
  const query = useQuery(read(GetChangeRequest, { params: { projectId: project, id: Number(id) } }));
  useLiveEvents(({ project: of }) => {
    if (of === project) void client.invalidateQueries();
  });
  return <Answer query={query}>{(request) => <RequestView request={request} />}</Answer>;
};
