import { SearchChangeRequests } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import { Checkbox, ComboBox, Select, Switch, TextField } from '../../components/forms/fields.tsx';
import type { SearchParameters } from '../../filtering/search-parameter.ts';
import type { PlaygroundInput } from './playground-input.ts';
import styles from './playground.module.css';

const maxOpenRequests = 50;

/** The options for a change request to compare with: the open ones, and the one that the URL names. */
const useChangeRequestOptions = (chosenId: number | undefined) => {
  const { data } = useQuery({
    ...operationQuery(SearchChangeRequests, { query: { state: 'IS:open', limit: maxOpenRequests } }),
    staleTime: 30_000,
  });
  const openRequests = (data?.changeRequests ?? []).map(({ id, title, project, environment }) => ({
    id: String(id),
    label: title ?? `Change request ${id}`,
    description: `${project} / ${environment}`,
  }));
  const isListed = chosenId === undefined || openRequests.some(({ id }) => id === String(chosenId));
  return [
    { id: 'none', label: 'Nothing: as things are now' },
    ...(isListed ? [] : [{ id: String(chosenId), label: `Change request ${chosenId}` }]),
    ...openRequests,
  ];
};

interface PlaygroundInputFieldsProps {
  readonly input: PlaygroundInput;
  readonly enabledEnvironments: readonly string[];
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  /** writes search parameters to the URL */
  readonly write: (changed: SearchParameters) => void;
}

/** The fields that choose the environments, flags and projects, and a change request to compare with. */
export const PlaygroundInputFields = ({
  input,
  enabledEnvironments,
  filter,
  onFilter,
  write,
}: PlaygroundInputFieldsProps) => {
  const { environments, projects, flag, changeRequest, onlyConcerned } = input;
  const { data: projectList } = useProjects();
  const requests = useChangeRequestOptions(changeRequest);
  return (
    <div className={styles['group']}>
      <div className={styles['group']} role="group" aria-label="Environments">
        <div className={styles['head']}>
          <h2>Environments</h2>
        </div>
        <div className={styles['options']}>
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
      <div className={styles['pair']}>
        {flag === undefined ? (
          <TextField label="Name contains" value={filter} onChange={onFilter} />
        ) : (
          <Checkbox isSelected onChange={() => write({ flag: undefined })}>
            Only {flag}
          </Checkbox>
        )}
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
      {projects.length > 0 && (
        <div className={styles['options']} role="group" aria-label="Projects">
          {projects.map((id) => (
            <Checkbox
              key={id}
              isSelected
              onChange={() => write({ projects: projects.filter((other) => other !== id).join(',') || undefined })}
            >
              {id}
            </Checkbox>
          ))}
        </div>
      )}
      <Select
        label="As if this were applied"
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
};
