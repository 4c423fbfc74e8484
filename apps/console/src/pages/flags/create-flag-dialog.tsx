import { CreateFeature, ListFeatureTypes, newFeatureMetadata } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { usePermissionCheck } from '../../api/permissions.ts';
import { operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import { RequestBodyDialog } from '../../components/forms/request-body-form.tsx';
import { ComboBox } from '../../components/forms/selects.tsx';

interface CreateFlagDialogProps {
  readonly project: string | undefined;
  /** the initial value of the name */
  readonly name?: string;
  readonly onClose: () => void;
}

/** Creates a flag, which is off in every environment. */
export function CreateFlagDialog({ project: initialProject = 'default', name = '', onClose }: CreateFlagDialogProps) {
  const hasPermission = usePermissionCheck();
  const { data: projects } = useProjects();
  const { data: types } = useQuery(operationQuery(ListFeatureTypes, {}));
  const [project, setProject] = useState(initialProject);
  const allowedProjects = (projects?.projects ?? []).filter(({ id }) =>
    hasPermission('CREATE_FEATURE', { project: id }),
  );
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
          hint: 'Code asks for it by this name, and it cannot be changed: letters, digits, - _ . ~',
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
      onClose={onClose}
    />
  );
}
