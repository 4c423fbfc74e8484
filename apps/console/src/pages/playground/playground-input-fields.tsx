import { SearchChangeRequests } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import { Checkbox, ComboBox, Select, Switch, TextField } from '../../components/forms/fields.tsx';
import type { SearchParameters } from '../../filtering/search-parameter.ts';
import { changeRequestsMessages } from '../../messages/change-requests.ts';
import { playgroundMessages as text } from '../../messages/playground.ts';
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
    label: title ?? changeRequestsMessages.untitled(id),
    description: `${project} / ${environment}`,
  }));
  const isListed = chosenId === undefined || openRequests.some(({ id }) => id === String(chosenId));
  return [
    { id: 'none', label: text.noComparison },
    ...(isListed ? [] : [{ id: String(chosenId), label: changeRequestsMessages.untitled(chosenId) }]),
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
      <div className={styles['group']} role="group" aria-label={text.environments}>
        <div className={styles['head']}>
          <h2>{text.environments}</h2>
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
          <TextField label={text.filter} value={filter} onChange={onFilter} />
        ) : (
          <Checkbox isSelected onChange={() => write({ flag: undefined })}>
            {text.onlyFlag(flag)}
          </Checkbox>
        )}
        <ComboBox
          key={projects.join()}
          label={text.addProject}
          placeholder={text.allProjects}
          options={(projectList?.projects ?? [])
            .filter(({ id }) => !projects.includes(id))
            .map(({ id, name }) => ({ id, label: name, description: id }))}
          value={null}
          onChange={(id) => write({ projects: [...projects, id].join(',') })}
        />
      </div>
      {projects.length > 0 && (
        <div className={styles['options']} role="group" aria-label={text.projects}>
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
        label={text.changeRequest}
        options={requests}
        value={changeRequest === undefined ? 'none' : String(changeRequest)}
        onChange={(id) => write({ changeRequest: id === 'none' ? undefined : id })}
      />
      {changeRequest !== undefined && flag === undefined && (
        <Switch isSelected={onlyConcerned} onChange={(isOn) => write({ concerned: isOn ? undefined : 'false' })}>
          {text.onlyConcerned}
        </Switch>
      )}
    </div>
  );
};
