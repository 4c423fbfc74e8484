import { CreateFeature, type CreateFeatureBody, ListFeatureTypes, newFeatureMetadata } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { operationQuery, useProjects, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { BoundComboBox, BoundSelect, BoundTextField } from '../../components/forms/bound-fields.tsx';
import { showServerError } from '../../components/forms/show-server-error.ts';
import { flagsMessages } from '../../messages/flags.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { notify } from '../../shell/toasts.tsx';

const text = flagsMessages.create;

interface CreateFlagDialogProps {
  readonly project: string | undefined;
  /** the initial value of the name */
  readonly name?: string;
  readonly onClose: () => void;
}

/** Creates a flag, which is off in every environment. */
export const CreateFlagDialog = ({ project, name: initialName = '', onClose }: CreateFlagDialogProps) => {
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
      notify(text.created(body.name));
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
      title={text.title}
      onClose={onClose}
      onSubmit={(event) => void submit(event)}
      footer={
        <>
          <Button onPress={onClose}>{sharedMessages.common.cancel}</Button>
          <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
            {text.submit}
          </Button>
        </>
      }
    >
      {formState.errors.root?.message !== undefined && <Notice tone="danger">{formState.errors.root.message}</Notice>}
      <BoundTextField
        control={control}
        name="name"
        label={text.name}
        hint={text.nameHint}
        required={text.nameMissing}
        autoFocus
      />
      {allowedProjects.length > 0 && (
        <BoundComboBox
          control={control}
          name="project"
          label={text.project}
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
        label={text.type}
        options={(types?.types ?? []).map(({ id, name, description }) => ({ id, label: name, description }))}
      />
      <BoundTextField control={control} name="description" label={text.description} rows={3} />
    </Dialog>
  );
};
