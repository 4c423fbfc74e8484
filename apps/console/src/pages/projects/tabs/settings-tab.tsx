import {
  ArchiveProject,
  DeleteProject,
  GetProjectOverview,
  GetProjectStatus,
  type ProjectOverview,
  UpdateProject,
  UpdateProjectSettings,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { RequestBodyForm } from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { modeField, useStickinessField } from '../project-fields.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../projects.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { isolated } from '../../../text/isolated.ts';

function nameAndDescriptionOf({ name, description }: ProjectOverview) {
  return { name, description };
}
function rulesOf({ mode, defaultStickiness, featureLimit, featureNaming }: ProjectOverview) {
  return {
    mode,
    defaultStickiness,
    featureLimit,
    featureNaming: featureNaming ?? { pattern: null },
  };
}

interface SettingsProps {
  readonly project: string;
  readonly overview: ProjectOverview;
}

function Settings({ project, overview }: SettingsProps) {
  const stickiness = useStickinessField();
  const mayCall = useMayCall();
  const request = { params: { projectId: project } };
  const readStored = (bodyOf: typeof nameAndDescriptionOf | typeof rulesOf) => async () => {
    const value = await call(GetProjectOverview, request);
    return { value: bodyOf(value) };
  };
  const activeFlags = overview.featureTypeCounts.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      {mayCall(UpdateProject, { project }) && (
        <section className={styles['section']} aria-labelledby="name-and-description">
          <h2 id="name-and-description">Name and description</h2>
          <RequestBodyForm
            operation={UpdateProject}
            request={request}
            values={nameAndDescriptionOf(overview)}
            readStored={readStored(nameAndDescriptionOf)}
            fields={[
              { name: 'name', label: 'Name' },
              { name: 'description', label: 'Description', rows: 3 },
            ]}
            notification={() => 'The settings are saved.'}
          />
        </section>
      )}
      {mayCall(UpdateProjectSettings, { project }) && (
        <section className={styles['section']} aria-labelledby="rules">
          <h2 id="rules">Rules</h2>
          <RequestBodyForm
            operation={UpdateProjectSettings}
            request={request}
            values={rulesOf(overview)}
            readStored={readStored(rulesOf)}
            fields={[
              modeField,
              stickiness,
              {
                name: 'featureLimit',
                label: 'Limit of active flags',
                hint: `Empty: any number. Flags beyond a lower limit stay. ${`${formatCount(activeFlags, 'active flag')} now.`}`,
              },
              {
                name: 'featureNaming.pattern',
                label: 'Pattern of names of flags',
                hint: 'A regular expression that the whole name must match, such as checkout-[a-z-]+. Flags that exist keep their names.',
              },
              { name: 'featureNaming.example', label: 'Example of a name' },
              { name: 'featureNaming.description', label: 'Description of the pattern', rows: 2 },
            ]}
            notification={() => 'The settings are saved.'}
          />
        </section>
      )}
      <ArchiveOrDelete project={project} overview={overview} activeFlags={activeFlags} />
    </>
  );
}

/** Archives or deletes the project, unless it has active flags. */
function ArchiveOrDelete({ project, overview, activeFlags }: SettingsProps & { readonly activeFlags: number }) {
  const navigate = useNavigate();
  const mayCall = useMayCall();
  const status = useQuery(operationQuery(GetProjectStatus, { params: { projectId: project } }));
  const [dialog, setDialog] = useState<'archive' | 'delete'>();
  if (!mayCall(DeleteProject, { project })) return null;
  const close = (): void => setDialog(undefined);
  const isDefault = project === 'default';
  const openProjectList = (): void => void navigate({ to: '/projects' });
  const consequences = (
    <>
      {activeFlags > 0 && (
        <Notice tone="warning">
          {formatCount(activeFlags, 'flag')} of it {activeFlags === 1 ? 'is' : 'are'} active: archive or move{' '}
          {activeFlags === 1 ? 'it' : 'them'} first.
        </Notice>
      )}
      <QueryResult query={status}>
        {({ resources, lifecycleSummary }) => (
          <p>
            It has {formatCount(lifecycleSummary.archived.currentFlags, 'archived flag')},{' '}
            {formatCount(resources.apiTokens, 'API token')} and {formatCount(resources.segments, 'segment')} of its own.
          </p>
        )}
      </QueryResult>
    </>
  );
  return (
    <section className={styles['section']} aria-labelledby="danger">
      <h2 id="danger">Archive or delete</h2>
      {isDefault ? (
        <p className={layout['muted']}>The default project cannot be deleted.</p>
      ) : (
        <div className={layout['inline']}>
          <Button icon="archive" onPress={() => setDialog('archive')}>
            Archive the project
          </Button>
          <Button icon="remove" variant="danger" onPress={() => setDialog('delete')}>
            Delete the project
          </Button>
        </div>
      )}
      {dialog === 'archive' && (
        <ConfirmOperationDialog
          title={`Archive the project “${isolated(overview.name)}”`}
          confirm="Archive the project"
          isDangerous
          isImpossible={activeFlags > 0}
          operation={ArchiveProject}
          request={{ params: { projectId: project } }}
          notification={`The project ${isolated(overview.name)} is archived.`}
          onClose={close}
          onDone={openProjectList}
        >
          <p>It is not listed any more, and its API tokens give no flags of it. It can be revived.</p>
          {consequences}
        </ConfirmOperationDialog>
      )}
      {dialog === 'delete' && (
        <ConfirmOperationDialog
          title={`Delete the project “${isolated(overview.name)}” for good`}
          confirm="Delete the project"
          isDangerous
          typedName={project}
          isImpossible={activeFlags > 0}
          operation={DeleteProject}
          request={{ params: { projectId: project } }}
          notification={`The project ${isolated(overview.name)} is deleted.`}
          onClose={close}
          onDone={openProjectList}
        >
          <p>Its archived flags, its settings and its members go with it. This cannot be undone.</p>
          {consequences}
        </ConfirmOperationDialog>
      )}
    </section>
  );
}

/** The settings of a project, and the buttons that archive or delete it. */
export function SettingsTab({ project }: { readonly project: string }) {
  const overview = useQuery(operationQuery(GetProjectOverview, { params: { projectId: project } }));
  return (
    <div className={layout['stack']}>
      <MissingPermissionNotice operation={UpdateProjectSettings} scope={{ project }} />
      <QueryResult query={overview}>
        {(data) => <Settings key={project} project={project} overview={data} />}
      </QueryResult>
    </div>
  );
}
