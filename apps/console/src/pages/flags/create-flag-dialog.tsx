import { CreateFeature, type CreateFeatureBody, ListFeatureTypes, newFeatureMetadata } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { operationQuery, useProjects, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { usePermissionCheck } from '../../api/permissions.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { BoundComboBox, BoundSelect, BoundTextField } from '../../components/forms/bound-fields.tsx';
import { showServerError } from '../../components/forms/form-values.ts';
import { notify } from '../../shell/toasts.tsx';

interface CreateFlagDialogProps {
  readonly project: string | undefined;
  /** the initial value of the name */
  readonly name?: string;
  readonly onClose: () => void;
}

/** Creates a flag, which is off in every environment. */
export function CreateFlagDialog({ project, name: initialName = '', onClose }: CreateFlagDialogProps) {
  const hasPermission = usePermissionCheck();
  const { data: projects } = useProjects();
  const { data: types } = useQuery(operationQuery(ListFeatureTypes, {}));
  const create = useOperationMutation(CreateFeature, 'handled');
  const { control, handleSubmit, setError, formState } = useForm({
    defaultValues: { name: initialName, project: project ?? 'default', type: newFeatureMetadata.type, description: '' },
  });
  const submit = handleSubmit(async ({ name, project: projectId, type, description }) => {
    try {
      const body = { name: name.trim(), type: type as CreateFeatureBody['type'], description };
      await create.mutateAsync({ params: { projectId }, body });
      notify(`${body.name} is created. It is off in every environment.`);
      onClose();
    } catch (error) {
      showServerError(error, ['name', 'type', 'description'], setError);
    }
  });
  const allowedProjects = (projects?.projects ?? []).filter(({ id }) =>
    hasPermission('CREATE_FEATURE', { project: id }),
  );
  return (
    <Dialog
      title="Create a flag"
      onClose={onClose}
      onSubmit={(event) => void submit(event)}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
            Create
          </Button>
        </>
      }
    >
      {formState.errors.root?.message !== undefined && <Notice tone="danger">{formState.errors.root.message}</Notice>}
      <BoundTextField
        control={control}
        name="name"
        label="Name"
        hint="Code asks for it by this name, and it cannot be changed: letters, digits, - _ . ~"
        required="Enter a name."
        autoFocus
      />
      {allowedProjects.length > 0 && (
        <BoundComboBox
          control={control}
          name="project"
          label="Project"
          options={allowedProjects.map(({ id, name }) => ({
            id,
            label: name,
            description: id === name ? undefined : id,
          }))}
        />
      )}
      <BoundSelect
        control={control}
        name="type"
        label="Type"
        options={(types?.types ?? []).map(({ id, name, description }) => ({ id, label: name, description }))}
      />
      <BoundTextField control={control} name="description" label="Description" rows={3} />
    </Dialog>
  );
}
