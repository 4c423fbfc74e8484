import {
  ExportFeatures,
  type ExportFeaturesBody,
  GetUiConfig,
  ImportFeatures,
  type ImportReport,
  type ImportValidation,
  permissionsFor,
  ValidateImport,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  operationQuery,
  useEnvironments,
  useProjects,
  useOperationMutation,
} from '../../../api/queries-and-mutations.ts';
import { Button, buttonClass } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { Table } from '../../../components/content/table.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import { ComboBox, Select } from '../../../components/forms/selects.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { notify } from '../../../shell/toasts.tsx';
import { useEditProtection } from '../../../changes/edit-protection.tsx';
import { AdminPage } from '../admin-page.tsx';
import { NameList } from '../name-list.tsx';
import { exportedCounts, parseExport, saveFile } from './export-file.ts';
import { FileField } from './file-field.tsx';
import { MissingSegments, useMissingSegments } from './missing-segments.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';
import { isolated } from '../../../text/isolated.ts';
import { useProjectNames } from '../../../components/content/project-name.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { inFieldWords } from '../../../text/field-words.ts';
import { inPermissionNames, missingPermission } from '../../../text/permission-words.ts';
import { useMayCall } from '../../../api/permissions.ts';

const texts = {
  result: {
    created: 'flags created',
    updated: 'flags changed',
    unchanged: 'flags as they were',
    strategies: 'strategies written',
    tags: 'tags put on flags',
    tagTypes: 'tag types created',
    contextFields: 'context fields created',
    dependencies: 'dependencies written',
  },
  kinds: { project: 'The flags of a project', tag: 'The flags with a tag', features: 'Flags by their names' },
} as const;

interface FindingsNoticeProps {
  readonly title: string;
  readonly tone: 'warning' | 'danger';
  readonly findings: ImportValidation['errors'];
}

function FindingsNotice({ title, tone, findings }: FindingsNoticeProps) {
  return findings.length === 0 ? null : (
    <Notice tone={tone}>
      <strong>{title}</strong>
      <ul className={styles['plain']}>
        {findings.map(({ message, affectedItems }) => (
          <li key={message}>
            {inFieldWords(message)}
            {affectedItems.length > 0 && <NameList names={affectedItems.map(inPermissionNames)} />}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

interface ReportProps {
  readonly report: ImportReport;
  readonly project: string;
  readonly onImportAnother: () => void;
}

function Report({ report, project, onImportAnother }: ReportProps) {
  const { changeRequest, skipped } = report;
  const counts = Object.entries(texts.result).map(
    ([name, label]) => [label, report[name as keyof typeof texts.result]] as const,
  );
  return (
    <div className={layout['section']}>
      <h3>It is imported</h3>
      <dl className={styles['facts']}>
        {counts
          .filter(([, n]) => n > 0)
          .map(([label, n]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{n}</dd>
            </div>
          ))}
      </dl>
      {changeRequest !== undefined &&
        (changeRequest.id === undefined ? (
          <Notice>
            {formatCount(changeRequest.changes, 'change')} need approval. The change request for them is made in a
            moment.
          </Notice>
        ) : (
          <Notice
            actions={
              <Link
                to="/projects/$project/change-requests/$id"
                params={{ project, id: String(changeRequest.id) }}
                className={buttonClass({ size: 'small' })}
              >
                Open it
              </Link>
            }
          >
            {formatCount(changeRequest.changes, 'change')} wait for approval in a change request.
          </Notice>
        ))}
      {skipped.length > 0 && (
        <Table
          label="Left out"
          rows={skipped}
          rowKey={({ feature }) => feature}
          columns={[
            { title: 'Flag', cell: ({ feature }) => feature },
            { title: 'Reason', cell: ({ reason }) => reason },
          ]}
        />
      )}
      <div className={styles['badges']}>
        <Link to="/projects/$project/flags" params={{ project }} className={buttonClass({ variant: 'primary' })}>
          Show the flags of the project
        </Link>
        <Button onPress={onImportAnother}>Import another one</Button>
      </div>
    </div>
  );
}

/** The project and environment of an import or export, as state that is kept in the URL. */
function useEnvironmentChoice() {
  const { data } = useProjects();
  const projects = data?.projects ?? [];
  const environments = useEnvironments().data?.environments ?? [];
  const [chosenProject, setProject] = useSearchParameter('project');
  const [chosenEnvironment, setEnvironment] = useSearchParameter('environment');
  return {
    areProjectsKnown: data !== undefined,
    project: chosenProject ?? projects.find(({ id }) => id === 'default')?.id ?? projects[0]?.id,
    environment: chosenEnvironment ?? environments[0]?.name,
    setProject,
    setEnvironment,
    projectOptions: projects.map(({ id, name }) => ({ id, label: name, description: id })),
    environmentOptions: environments.map(({ name }) => ({ id: name, label: name })),
  };
}
type EnvironmentChoice = ReturnType<typeof useEnvironmentChoice>;

interface EnvironmentChoiceFieldsProps {
  readonly choice: EnvironmentChoice;
  readonly labels: { readonly project: string; readonly environment: string };
  readonly hasProject?: boolean;
}

function EnvironmentChoiceFields({ choice, labels, hasProject = true }: EnvironmentChoiceFieldsProps) {
  return (
    <>
      {hasProject && (
        <ComboBox
          label={labels.project}
          options={choice.projectOptions}
          value={choice.project ?? null}
          onChange={choice.setProject}
        />
      )}
      <Select
        label={labels.environment}
        options={choice.environmentOptions}
        value={choice.environment ?? null}
        onChange={choice.setEnvironment}
      />
    </>
  );
}

function ImportForm({ choice }: { readonly choice: EnvironmentChoice }) {
  const { project = '', environment = '' } = choice;
  const nameOfProject = useProjectNames();
  const [enteredText, setEnteredText] = useState('');
  const validateImport = useOperationMutation(ValidateImport, 'handled');
  const importFeatures = useOperationMutation(ImportFeatures, 'handled');
  const [validation, setValidation] = useState<ImportValidation | undefined>();
  const protection = useEditProtection(project, environment);
  const maxBytes = useQuery(operationQuery(GetUiConfig, {})).data?.maxImportBytes;
  const parsed = enteredText.trim() === '' ? undefined : parseExport(enteredText, maxBytes);
  const enter = (value: string): void => {
    setEnteredText(value);
    setValidation(undefined);
    validateImport.reset();
    importFeatures.reset();
  };
  const missingSegments = useMissingSegments(parsed?.kind === 'export' ? parsed.data : undefined) ?? [];
  if (importFeatures.data !== undefined)
    return <Report report={importFeatures.data} project={project} onImportAnother={() => enter('')} />;
  // Where it goes is known a moment after the page is shown.
  const isPlaceKnown = project !== '' && environment !== '';
  const body = parsed?.kind === 'export' && isPlaceKnown ? { project, environment, data: parsed.data } : undefined;
  const isPossible = validation !== undefined && validation.errors.length === 0 && validation.permissions.length === 0;
  const check = (): void => {
    if (body !== undefined) validateImport.mutate({ body }, { onSuccess: setValidation });
  };
  const otherErrors = (validation?.errors ?? []).filter(
    ({ message, affectedItems }) =>
      !(message.startsWith('Segment "') && affectedItems.every((name) => missingSegments.includes(name))),
  );
  const submit = (): void => {
    if (body === undefined) return;
    if (isPossible) importFeatures.mutate({ body });
    else check();
  };
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <EnvironmentChoiceFields
        choice={{
          ...choice,
          setProject: (id) => {
            setValidation(undefined);
            choice.setProject(id);
          },
          setEnvironment: (name) => {
            setValidation(undefined);
            choice.setEnvironment(name);
          },
        }}
        labels={{ project: 'Into the project', environment: 'Strategies go to the environment' }}
      />
      <FileField label="File" hint="An export of one environment, as JSON" onText={enter} />
      <TextField
        label="Or its text"
        rows={6}
        value={enteredText.length > 100_000 ? `${enteredText.slice(0, 1_000)}…` : enteredText}
        onChange={enter}
        isReadOnly={enteredText.length > 100_000}
        error={parsed?.kind === 'fault' ? parsed.message : undefined}
      />
      <div role="status" className={layout['section']}>
        {parsed?.kind === 'export' && <p>It has {exportedCounts(parsed.data).join(', ')}.</p>}
        {validation !== undefined && (
          <>
            <FindingsNotice title="What keeps it from being imported" tone="danger" findings={otherErrors} />
            <FindingsNotice title="Permissions that you lack" tone="danger" findings={validation.permissions} />
            <FindingsNotice title="What will be left out" tone="warning" findings={validation.warnings} />
            {isPossible && <p>Nothing keeps it from being imported.</p>}
          </>
        )}
        {protection.environments.length > 0 && (
          <Notice tone={protection.maySkip ? 'warning' : 'neutral'}>
            {protection.maySkip
              ? `${environment} is protected. You have the permission to skip change requests: the import applies there directly, without approval. A user without it proposes it.`
              : `Changes in ${environment} need approval. Flags are created immediately; what concerns ${environment} is proposed in a change request.`}
          </Notice>
        )}
      </div>
      {otherErrors.length < (validation?.errors.length ?? 0) && body !== undefined && (
        <MissingSegments names={missingSegments} exported={body.data} project={project} onCreated={check} />
      )}
      <ErrorNotice error={importFeatures.error ?? validateImport.error} />
      <div>
        <Button
          type="submit"
          variant={isPossible ? 'primary' : 'secondary'}
          isPending={validateImport.isPending || importFeatures.isPending}
          isDisabled={body === undefined}
        >
          {isPossible && body !== undefined
            ? `Import ${formatCount(body.data.features.length, 'flag')} into ${isolated(nameOfProject(project))}`
            : 'Check'}
        </Button>
      </div>
    </form>
  );
}

type ExportKind = keyof typeof texts.kinds;

function ExportForm({ choice }: { readonly choice: EnvironmentChoice }) {
  const { project = '', environment = '' } = choice;
  const exportFeatures = useOperationMutation(ExportFeatures, 'handled');
  const [kind, setKind] = useState<ExportKind>('project');
  const [tag, setTag] = useState('');
  const [names, setNames] = useState('');
  const [wasSubmitted, setSubmitted] = useState(false);
  const featureNames = names.split(/[\s,]+/).filter(Boolean);
  const bodies: Readonly<Record<ExportKind, ExportFeaturesBody>> = {
    project: { environment, project },
    tag: { environment, tag: tag.trim() },
    features: { environment, features: featureNames },
  };
  const isMissing = (kind === 'tag' && tag.trim() === '') || (kind === 'features' && featureNames.length === 0);
  const submit = (): void => {
    setSubmitted(true);
    if (isMissing) return;
    const name = [kind === 'project' ? project : kind, environment, new Date().toISOString().slice(0, 10)].join('-');
    exportFeatures.mutate(
      { body: bodies[kind] },
      {
        onSuccess: (exported) => {
          if (exported.features.length === 0) return notify('There is no such flag, so there is no file.');
          saveFile(`flags-${name}.json`, 'application/json', JSON.stringify(exported, null, 2));
          notify(`${formatCount(exported.features.length, 'flag')} exported.`);
        },
      },
    );
  };
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Select
        label="What"
        options={Object.entries(texts.kinds).map(([id, label]) => ({ id, label }))}
        value={kind}
        onChange={(id) => setKind(id as ExportKind)}
      />
      {kind === 'tag' && (
        <TextField
          label="Value of the tag"
          value={tag}
          onChange={setTag}
          error={wasSubmitted && isMissing ? 'Enter the value of a tag, such as payments.' : undefined}
        />
      )}
      {kind === 'features' && (
        <TextField
          label="Names of flags"
          hint="Separated by spaces, commas or lines"
          rows={4}
          value={names}
          onChange={setNames}
          error={wasSubmitted && isMissing ? 'Enter at least one name.' : undefined}
        />
      )}
      <EnvironmentChoiceFields
        choice={choice}
        labels={{ project: 'Project', environment: 'Environment' }}
        hasProject={kind === 'project'}
      />
      <ErrorNotice error={exportFeatures.error} />
      <div>
        <Button
          type="submit"
          isDisabled={environment === '' || (kind === 'project' && project === '')}
          isPending={exportFeatures.isPending}
        >
          Export
        </Button>
      </div>
    </form>
  );
}

/** Imports an export of Unleash or Bunting, and exports flags. */
export function TransferPage() {
  const choice = useEnvironmentChoice();
  const mayCall = useMayCall();
  const targets = choice.projectOptions.filter(({ id }) => mayCall(ImportFeatures, { project: id }));
  const target = targets.find(({ id }) => id === choice.project) ?? targets[0];
  return (
    <AdminPage id="transfer">
      <div className={styles['halves']}>
        <section className={layout['section']} aria-labelledby="import">
          <h2 id="import">Import</h2>
          <p className={layout['muted']}>
            Takes flags from an export of Unleash or Bunting. All of it is imported, or nothing.
          </p>
          {(target !== undefined || mayCall(ImportFeatures)) && (
            <ImportForm choice={{ ...choice, project: target?.id ?? choice.project, projectOptions: targets }} />
          )}
          {target === undefined && choice.areProjectsKnown && (
            <p>You may not import flags: that takes {missingPermission(permissionsFor(ImportFeatures))}.</p>
          )}
        </section>
        <section className={layout['section']} aria-labelledby="export">
          <h2 id="export">Export</h2>
          <p className={layout['muted']}>
            Flags with their strategies in one environment, their tags, segments, context fields and dependencies, as a
            file that Unleash and Bunting import.
          </p>
          <ExportForm choice={choice} />
        </section>
      </div>
    </AdminPage>
  );
}
