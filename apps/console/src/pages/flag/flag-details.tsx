import {
  CompleteFeature,
  type Feature,
  featureTypes,
  GetFeature,
  GetLifecycle,
  ListTagTypes,
  UncompleteFeature,
  UpdateFeature,
  UpdateFeatureTags,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { usePermissionCheck } from '../../api/permissions.ts';
import { operationQuery, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { ProjectName } from '../../components/content/project-name.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Time } from '../../components/content/time.tsx';
import { FormDialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { Select } from '../../components/forms/selects.tsx';
import { RequestBodyDialog } from '../../components/forms/request-body-form.tsx';
import layout from '../../components/layout/layout.module.css';
import { usePageActions } from '../../shell/page-actions.ts';
import { isolated } from '../../text/isolated.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { FlagDependencies } from './flag-dependencies.tsx';
import styles from './flag.module.css';

const texts = {
  completeAs: { kept: 'Completed: the code keeps it', discarded: 'Completed: the code drops it' },
  lifecycleStages: {
    initial: 'Created',
    'pre-live': 'Used outside of production',
    live: 'Used in production',
    completed: 'Completed',
    archived: 'Archived',
  } as Readonly<Record<string, string>>,
  completedAs: { kept: 'kept', discarded: 'discarded' },
} as const;

interface LifecycleProps {
  readonly feature: Feature;
  readonly project: string;
}

/** The lifecycle stages that a flag has entered, and a menu that marks it as completed or takes that back. */
function FlagLifecycle({ feature: { name, archived }, project }: LifecycleProps) {
  const params = { projectId: project, featureName: name };
  const query = useQuery(operationQuery(GetLifecycle, { params }));
  const complete = useOperationMutation(CompleteFeature, 'handled');
  const uncomplete = useOperationMutation(UncompleteFeature, 'handled');
  const mayEdit = usePermissionCheck()('UPDATE_FEATURE', { project }) && archived !== true;
  const options = { onSuccess: () => notify('Saved.'), onError: notifyError };
  return (
    <QueryResult query={query}>
      {(stages) => {
        const isCompleted = stages.some(({ stage }) => stage === 'completed');
        return (
          <section className={styles['section']}>
            <div className={styles['sectionHead']}>
              <h3>Lifecycle</h3>
              {mayEdit && (
                <Menu
                  label="Complete the flag"
                  entries={
                    isCompleted
                      ? [
                          {
                            id: 'uncomplete',
                            label: 'Not completed after all',
                            run: () => uncomplete.mutate({ params, ifMatch: undefined }, options),
                          },
                        ]
                      : (['kept', 'discarded'] as const).map((status) => ({
                          id: status,
                          label: texts.completeAs[status],
                          run: () => complete.mutate({ params, body: { status }, ifMatch: undefined }, options),
                        }))
                  }
                >
                  <IconButton icon="edit" size="small" label="Complete the flag" />
                </Menu>
              )}
            </div>
            <ol className={styles['links']}>
              {stages.map(({ stage, status, enteredStageAt }) => (
                <li key={stage} className={styles['stage']}>
                  <span>
                    {texts.lifecycleStages[stage] ?? stage}{' '}
                    {status === 'kept' || status === 'discarded' ? <Badge>{texts.completedAs[status]}</Badge> : null}
                  </span>
                  <Time at={enteredStageAt} isAbsolute />
                </li>
              ))}
            </ol>
          </section>
        );
      }}
    </QueryResult>
  );
}

/** Whether a URL may become a link. Only HTTP URLs may; others, such as `javascript:`, are shown as text. */
function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/** The links of a flag to other systems, such as its ticket. */
function FlagLinks({ feature: { links = [] } }: { readonly feature: Feature }) {
  return links.length === 0 ? null : (
    <section className={styles['section']}>
      <h3>Links</h3>
      <ul className={styles['links']}>
        {links.map(({ id, url, title }) => {
          const label = title == null || title === '' ? url : title;
          return (
            <li key={id} dir="auto">
              {isHttpUrl(url) ? (
                <a href={url} rel="noopener noreferrer" target="_blank" title={url}>
                  {label}
                </a>
              ) : (
                label
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

interface DetailsProps {
  readonly feature: Feature;
  readonly project: string;
}

function EditDialog({ feature, project, onClose }: DetailsProps & { readonly onClose: () => void }) {
  const params = { projectId: project, featureName: feature.name };
  return (
    <RequestBodyDialog
      title="Edit the details"
      submit="Save"
      operation={UpdateFeature}
      request={{ params }}
      values={feature}
      readStored={async () => ({ value: await call(GetFeature, { params, query: {} }) })}
      sendsOnlyChanges
      fields={[
        { name: 'description', label: 'Description', rows: 4 },
        { name: 'type', label: 'Type', options: featureTypes.map((type) => ({ id: type, label: type })) },
        { name: 'stale', label: 'Stale: it can be removed from the code' },
        { name: 'impressionData', label: 'Impression data' },
      ]}
      notification={() => 'Saved.'}
      onClose={onClose}
    />
  );
}

function TagDialog({ feature, onClose }: Pick<DetailsProps, 'feature'> & { readonly onClose: () => void }) {
  const { data } = useQuery({ ...operationQuery(ListTagTypes, {}), staleTime: 60_000 });
  const update = useOperationMutation(UpdateFeatureTags, 'handled');
  const [type, setType] = useState('simple');
  const [value, setValue] = useState('');
  const [isMissing, setMissing] = useState(false);
  const add = (): void => {
    if (value.trim() === '') return setMissing(true);
    update.mutate(
      {
        params: { featureName: feature.name },
        body: { addedTags: [{ type, value: value.trim() }], removedTags: [] },
        ifMatch: undefined,
      },
      {
        onSuccess: () => {
          notify(`The tag ${isolated(`${type}:${value.trim()}`)} is added.`);
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog title="Add a tag" onClose={onClose} onSubmit={add} submit="Add" isPending={update.isPending}>
      <div className={layout['denseStack']}>
        <Select
          label="Type"
          options={(data?.tagTypes ?? []).map(({ name, description }) => ({
            id: name,
            label: name,
            description: description ?? undefined,
          }))}
          value={type}
          onChange={setType}
        />
        <TextField
          label="Tag"
          value={value}
          onChange={setValue}
          error={isMissing && value.trim() === '' ? 'Write the tag.' : undefined}
          isRequired
          autoFocus
        />
        <ErrorNotice error={update.error} />
      </div>
    </FormDialog>
  );
}

interface SectionProps extends DetailsProps {
  readonly mayEdit: boolean;
}

/** The description of a flag, its project, its author and its time of creation. */
function FlagFacts({ feature, project, mayEdit }: SectionProps) {
  const { description, createdAt, createdBy, impressionData } = feature;
  const [isEditing, setEditing] = useState(false);
  usePageActions(
    mayEdit ? [{ id: 'flag.edit', title: 'Edit the details', key: 'e', run: () => setEditing(true) }] : [],
  );
  return (
    <section className={styles['section']}>
      <div className={styles['sectionHead']}>
        <h2>Details</h2>
        {mayEdit && (
          <Button size="small" icon="edit" onPress={() => setEditing(true)}>
            Edit
          </Button>
        )}
      </div>
      <p dir="auto" className={description ? styles['description'] : layout['small']}>
        {description || 'No description yet. Say what the flag is for, and when it can go.'}
      </p>
      <dl className={layout['facts']}>
        <dt>Project</dt>
        <dd>
          <Link to="/projects/$project/flags" params={{ project }}>
            <ProjectName id={project} />
          </Link>
        </dd>
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} isAbsolute />
        </dd>
        {createdBy?.name != null && (
          <>
            <dt>Created by</dt>
            <dd>{createdBy.name}</dd>
          </>
        )}
        <dt>Impression data</dt>
        <dd>{impressionData === true ? 'on' : 'off'}</dd>
      </dl>
      {isEditing && <EditDialog feature={feature} project={project} onClose={() => setEditing(false)} />}
    </section>
  );
}

function FlagTags({ feature, mayEdit }: Omit<SectionProps, 'project'>) {
  const tags = feature.tags ?? [];
  const [isAdding, setAdding] = useState(false);
  const updateTags = useOperationMutation(UpdateFeatureTags, 'handled');
  return (
    <section className={styles['section']}>
      <div className={styles['sectionHead']}>
        <h3>Tags</h3>
        {mayEdit && <IconButton icon="add" size="small" label="Add a tag" onPress={() => setAdding(true)} />}
      </div>
      {tags.length > 0 && (
        <ul className={styles['badges']}>
          {tags.map((tag) => (
            <li key={`${tag.type}:${tag.value}`} className={styles['badges']}>
              <Badge>
                <bdi>
                  {tag.type}:{tag.value}
                </bdi>
              </Badge>
              {mayEdit && (
                <IconButton
                  icon="close"
                  size="small"
                  label={`Remove the tag ${`${tag.type}:${tag.value}`}`}
                  onPress={() =>
                    updateTags.mutate(
                      {
                        params: { featureName: feature.name },
                        body: { addedTags: [], removedTags: [tag] },
                        ifMatch: undefined,
                      },
                      {
                        onSuccess: () => notify(`The tag ${isolated(`${tag.type}:${tag.value}`)} is removed.`),
                        onError: notifyError,
                      },
                    )
                  }
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {tags.length === 0 && <p className={layout['small']}>No tags.</p>}
      {isAdding && <TagDialog feature={feature} onClose={() => setAdding(false)} />}
    </section>
  );
}

/** The details of a flag that are the same in all environments, such as description, tags, dependencies and lifecycle. */
export function FlagDetails({ feature, project }: DetailsProps) {
  const hasPermission = usePermissionCheck();
  const mayEdit = feature.archived !== true && hasPermission('UPDATE_FEATURE', { project });
  return (
    <aside className={layout['denseStack']} aria-label="Details">
      <FlagFacts feature={feature} project={project} mayEdit={mayEdit} />
      <FlagTags feature={feature} mayEdit={mayEdit} />
      <FlagDependencies feature={feature} project={project} />
      <FlagLifecycle feature={feature} project={project} />
      <FlagLinks feature={feature} />
    </aside>
  );
}
