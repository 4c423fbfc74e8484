import { CreateFeature, ListFeatureTypes, newFeatureMetadata } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { usePermissionCheck } from '../../api/permissions.ts';
import { operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import { RequestBodyDialog } from '../../components/forms/request-body-form.tsx';
import { ComboBox } from '../../components/forms/selects.tsx';
import { keepText, keptText } from '../../store.ts';

interface CreateFlagDialogProps {
  readonly project: string | undefined;
  /** the initial value of the name */
  readonly name?: string;
  readonly onCreated?: (created: { readonly project: string; readonly feature: string }) => void;
  readonly onClose: () => void;
}

/** Where this browser keeps the project in which the person created a flag last. */
const lastProjectKey = 'bunting.lastProject';

/** Creates a flag, which is off in every environment. */
export function CreateFlagDialog({ project: givenProject, name = '', onCreated, onClose }: CreateFlagDialogProps) {
  const hasPermission = usePermissionCheck();
  const { data: projects } = useProjects();
  const { data: types } = useQuery(operationQuery(ListFeatureTypes, {}));
  const [chosenProject, setProject] = useState(givenProject);
  const allowedProjects = (projects?.projects ?? []).filter(({ id }) =>
    hasPermission('CREATE_FEATURE', { project: id }),
  );
  const [lastProject] = useState(() => keptText(lastProjectKey));
  const preset =
    allowedProjects.find(({ id }) => id === lastProject) ?? allowedProjects.find(({ id }) => id === 'default');
  const project = chosenProject ?? preset?.id ?? allowedProjects[0]?.id ?? 'default';
  return (
    <RequestBodyDialog
      title="Create a flag"
      submit="Create"
      operation={CreateFeature}
      request={{ params: { projectId: project } }}
      values={{ name, type: newFeatureMetadata.type }}
      fields={[
        {
          name: 'name',
          label: 'Name',
          hint: 'Used in code, and cannot be changed. Letters, digits, -\u00a0_\u00a0.\u00a0~',
        },
        {
          name: 'type',
          label: 'Type',
          options: (types?.types ?? []).map(({ id, name: label, description }) => ({ id, label, description })),
        },
        { name: 'description', label: 'Description', rows: 3 },
      ]}
      renderBody={() =>
        allowedProjects.length > 0 && (
          <ComboBox
            label="Project"
            options={allowedProjects.map(({ id, name: label }) => ({
              id,
              label,
              description: id === label ? undefined : id,
            }))}
            value={project}
            onChange={setProject}
          />
        )
      }
      notification={(body) => `${String(body['name'])} is created. It is off in every environment.`}
      onDone={(body) => {
        keepText(lastProjectKey, project);
        onCreated?.({ project, feature: String(body['name']) });
      }}
      onClose={onClose}
    />
  );
}
