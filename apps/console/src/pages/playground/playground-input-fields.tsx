import { ListContextFields, SearchChangeRequests } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { ProjectName, useProjectNames } from '../../components/content/project-name.tsx';
import { Checkbox, Switch, TextField } from '../../components/forms/fields.tsx';
import { ComboBox, Select } from '../../components/forms/selects.tsx';
import layout from '../../components/layout/layout.module.css';
import { FilterComboBox, type FilterComboBoxHandle } from '../../filtering/filter-combo-box.tsx';
import type { SearchParameters } from '../../filtering/search-parameter.ts';
import { useTriedValues } from '../../strategies/use-tried-values.ts';
import { contextSuggestionsAt, parseContext, type PlaygroundInput } from './playground-input.ts';
import styles from './playground.module.css';

const maxOpenRequests = 50;

/** The options for a change request to compare with: the open ones, and the one that the URL names. */
function useChangeRequestOptions(chosenId: number | undefined) {
  const { data } = useQuery({
    ...operationQuery(SearchChangeRequests, { query: { state: 'IS:open', limit: maxOpenRequests } }),
    staleTime: 30_000,
  });
  const nameOfProject = useProjectNames();
  const openRequests = (data?.changeRequests ?? []).map(({ id, title, project, environment }) => ({
    id: String(id),
    label: title ?? `Change request #${id}`,
    description: `${nameOfProject(project)} / ${environment}`,
  }));
  const isListed = chosenId === undefined || openRequests.some(({ id }) => id === String(chosenId));
  return [
    { id: 'none', label: 'None: as it is now' },
    ...(isListed ? [] : [{ id: String(chosenId), label: `Change request #${chosenId}` }]),
    ...openRequests,
  ];
}

interface PlaygroundInputFieldsProps {
  readonly input: PlaygroundInput;
  readonly enabledEnvironments: readonly string[];
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  /** writes search parameters to the URL */
  readonly write: (changed: SearchParameters) => void;
}

/** The fields that choose the environments, flags and projects, and a change request to compare with. */
export function PlaygroundInputFields({
  input,
  enabledEnvironments,
  filter,
  onFilter,
  write,
}: PlaygroundInputFieldsProps) {
  const { environments, projects, flag, changeRequest, onlyConcerned } = input;
  const { data: projectList } = useProjects();
  const requests = useChangeRequestOptions(changeRequest);
  return (
    <div className={styles['group']}>
      <div className={styles['group']} role="group" aria-label="Environments">
        <div className={layout['bar']}>
          <h2>Environments</h2>
          {enabledEnvironments.length > 3 && (
            <Button
              size="small"
              variant="quiet"
              onPress={() => write({ environments: environments.length === 0 ? undefined : '' })}
            >
              {environments.length === 0 ? 'Choose all' : 'Choose none'}
            </Button>
          )}
        </div>
        <div className={`${styles['options']} ${styles['environments']}`}>
          {enabledEnvironments.map((name) => (
            <Checkbox
              key={name}
              isSelected={environments.includes(name)}
              onChange={(isSelected) =>
                write({
                  environments: enabledEnvironments
                    .filter((other) => (other === name ? isSelected : environments.includes(other)))
                    .join(','),
                })
              }
            >
              {name}
            </Checkbox>
          ))}
        </div>
      </div>
      <div className={flag === undefined ? styles['pair'] : undefined}>
        {flag === undefined && <TextField label="Name contains" value={filter} onChange={onFilter} />}
        <ComboBox
          key={projects.join()}
          label="Add a project"
          placeholder="All projects"
          options={(projectList?.projects ?? [])
            .filter(({ id }) => !projects.includes(id))
            .map(({ id, name }) => ({ id, label: name, description: id }))}
          value={null}
          onChange={(id) => write({ projects: [...projects, id].join(',') })}
        />
      </div>
      {(projects.length > 0 || flag !== undefined) && (
        <div className={styles['options']} role="group" aria-label="Projects">
          {projects.map((id) => (
            <Checkbox
              key={id}
              isSelected
              onChange={() => write({ projects: projects.filter((other) => other !== id).join(',') || undefined })}
            >
              <ProjectName id={id} />
            </Checkbox>
          ))}
          {flag !== undefined && (
            <Checkbox isSelected onChange={() => write({ flag: undefined })}>
              Only {flag}
            </Checkbox>
          )}
        </div>
      )}
      <Select
        label="Preview a change request"
        options={requests}
        value={changeRequest === undefined ? 'none' : String(changeRequest)}
        onChange={(id) => write({ changeRequest: id === 'none' ? undefined : id })}
      />
      {changeRequest !== undefined && flag === undefined && (
        <Switch isSelected={onlyConcerned} onChange={(isOn) => write({ concerned: isOn ? undefined : 'false' })}>
          Only flags that it concerns
        </Switch>
      )}
    </div>
  );
}

/** The maximum number of contexts in one request. */
const maxContexts = 50;

/** Fields that every context can have, besides the context fields of the installation. */
const standardFields = ['userId', 'sessionId', 'remoteAddress', 'appName', 'currentTime'];

interface ContextsEditorProps {
  /** the contexts as text, one on each line */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The editor of contexts: as rows with suggestions, or as a text into which others can be pasted. */
export function ContextsEditor({ value, onChange }: ContextsEditorProps) {
  const [isText, setIsText] = useState(false);
  const { data: definedFields = [] } = useQuery({ ...operationQuery(ListContextFields, {}), staleTime: 60_000 });
  const handle = useRef<FilterComboBoxHandle>(null);
  const fields = [
    ...definedFields.map(({ name, legalValues = [] }) => ({
      name,
      legalValues: legalValues.map((legal) => legal.value),
    })),
    ...standardFields
      .filter((name) => !definedFields.some((field) => field.name === name))
      .map((name) => ({ name, legalValues: [] })),
  ];
  const lines = value.split('\n');
  const { remember } = useTriedValues();
  const rememberValues = (): void =>
    remember(
      lines
        .flatMap((line) => Object.entries(parseContext(line).context))
        .flatMap(([name, values]) => values.split(',').map((one) => [name, one.trim()] as const)),
    );
  const errors = lines.flatMap((line) => parseContext(line).errors);
  return (
    <div className={styles['group']} role="group" aria-label="Contexts">
      <div className={layout['bar']}>
        <h2>Contexts</h2>
        <Button size="small" variant="quiet" onPress={() => setIsText(!isText)}>
          {isText ? 'As rows' : 'As text'}
        </Button>
      </div>
      {isText ? (
        <TextField
          label="Contexts"
          rows={Math.min(12, Math.max(4, lines.length))}
          value={value}
          onChange={onChange}
          onBlur={rememberValues}
          placeholder="userId=ann,bob region=eu"
          {...(errors[0] === undefined ? {} : { error: `${errors[0].token}: ${errors[0].reason}` })}
        />
      ) : (
        <div role="presentation" onBlur={rememberValues} className={styles['contexts']}>
          {lines.map((line, index) => (
            <div key={index} className={styles['contextRow']}>
              <FilterComboBox
                label={`Context ${index + 1}`}
                hint="userId=ann,bob region=eu"
                value={line}
                onChange={(changed) => onChange(lines.with(index, changed).join('\n'))}
                errors={parseContext(line).errors}
                suggest={(typed, caret) => contextSuggestionsAt(typed, caret, fields)}
                onFocus={() => undefined}
                handle={index === lines.length - 1 ? handle : null}
              />
              {lines.length > 1 && (
                <IconButton
                  icon="remove"
                  label={`Remove context ${index + 1}`}
                  onPress={() => onChange(lines.toSpliced(index, 1).join('\n'))}
                />
              )}
            </div>
          ))}
          <div>
            <Button
              size="small"
              icon="add"
              isDisabled={lines.length >= maxContexts}
              onPress={() => {
                flushSync(() => onChange(`${value}\n`));
                handle.current?.focus();
              }}
            >
              Add a context
            </Button>
          </div>
        </div>
      )}
      <p className={layout['small']}>
        One user or request on each line. Values with commas between them are tried one by one.
      </p>
    </div>
  );
}
