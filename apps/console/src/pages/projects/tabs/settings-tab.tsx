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
import { useMayCall } from '../../../api/use-may-call.ts';
import { projectsMessages as text } from '../../../messages/projects.ts';
import { modeField, useStickinessField } from '../project-fields.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../projects.module.css';

const nameAndDescriptionOf = ({ name, description }: ProjectOverview) => ({ name, description });
const rulesOf = ({ mode, defaultStickiness, featureLimit, featureNaming }: ProjectOverview) => ({
  mode,
  defaultStickiness,
  featureLimit,
  featureNaming: featureNaming ?? { pattern: null },
});

interface SettingsProps {
  readonly project: string;
  readonly overview: ProjectOverview;
}

const Settings = ({ project, overview }: SettingsProps) => {
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
          <h2 id="name-and-description">{text.nameAndDescription}</h2>
          <RequestBodyForm
            operation={UpdateProject}
            request={request}
            values={nameAndDescriptionOf(overview)}
            readStored={readStored(nameAndDescriptionOf)}
            fields={[
              { name: 'name', label: text.name },
              { name: 'description', label: text.description, rows: 3 },
            ]}
            notification={() => text.saved}
          />
        </section>
      )}
      {mayCall(UpdateProjectSettings, { project }) && (
        <section className={styles['section']} aria-labelledby="rules">
          <h2 id="rules">{text.rules}</h2>
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
                label: text.featureLimit,
                hint: `${text.featureLimitHint} ${text.limitUse(activeFlags)}`,
              },
              { name: 'featureNaming.pattern', label: text.pattern, hint: text.patternHint },
              { name: 'featureNaming.example', label: text.example },
              { name: 'featureNaming.description', label: text.patternInWords, rows: 2 },
            ]}
            notification={() => text.saved}
          />
        </section>
      )}
      <ArchiveOrDelete project={project} overview={overview} activeFlags={activeFlags} />
    </>
  );
};

/** Archives or deletes the project, unless it has active flags. */
const ArchiveOrDelete = ({ project, overview, activeFlags }: SettingsProps & { readonly activeFlags: number }) => {
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
      {activeFlags > 0 && <Notice tone="warning">{text.activeFlags(activeFlags)}</Notice>}
      <QueryResult query={status}>
        {({ resources, lifecycleSummary }) => (
          <p>{text.deletedAlong(lifecycleSummary.archived.currentFlags, resources.apiTokens, resources.segments)}</p>
        )}
      </QueryResult>
    </>
  );
  return (
    <section className={styles['section']} aria-labelledby="danger">
      <h2 id="danger">{text.danger}</h2>
      {isDefault ? (
        <p className={layout['muted']}>{text.isDefault}</p>
      ) : (
        <div className={layout['inline']}>
          <Button icon="archive" onPress={() => setDialog('archive')}>
            {text.archive}
          </Button>
          <Button icon="remove" variant="danger" onPress={() => setDialog('delete')}>
            {text.delete}
          </Button>
        </div>
      )}
      {dialog === 'archive' && (
        <ConfirmOperationDialog
          title={text.archiveTitle(overview.name)}
          confirm={text.archive}
          isDangerous
          isImpossible={activeFlags > 0}
          operation={ArchiveProject}
          request={{ params: { projectId: project } }}
          notification={text.archived(overview.name)}
          onClose={close}
          onDone={openProjectList}
        >
          <p>{text.archiveHelp}</p>
          {consequences}
        </ConfirmOperationDialog>
      )}
      {dialog === 'delete' && (
        <ConfirmOperationDialog
          title={text.deleteTitle(overview.name)}
          confirm={text.delete}
          isDangerous
          typedName={project}
          isImpossible={activeFlags > 0}
          operation={DeleteProject}
          request={{ params: { projectId: project } }}
          notification={text.deleted(overview.name)}
          onClose={close}
          onDone={openProjectList}
        >
          <p>{text.deleteHelp}</p>
          {consequences}
        </ConfirmOperationDialog>
      )}
    </section>
  );
};

/** The settings of a project, and the buttons that archive or delete it. */
export const SettingsTab = ({ project }: { readonly project: string }) => {
  const overview = useQuery(operationQuery(GetProjectOverview, { params: { projectId: project } }));
  return (
    <div className={layout['stack']}>
      <MissingPermissionNotice operation={UpdateProjectSettings} scope={{ project }} />
      <QueryResult query={overview}>
        {(data) => <Settings key={project} project={project} overview={data} />}
      </QueryResult>
    </div>
  );
};
