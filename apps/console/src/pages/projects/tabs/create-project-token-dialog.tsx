import { CreateProjectApiToken, ListEnvironmentsOfProject } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { validationErrorOf } from '../../../components/forms/request-body-schema.ts';
import { BoundSelect, BoundTextField } from '../../../components/forms/bound-fields.tsx';
import { DialogQueryResult } from '../../../components/dialogs/dialog.tsx';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';
import { instantAfterDays, tokenLifetimes } from '../../../components/forms/form-values.ts';
import { tokenTypeOptions } from '../../../text/api-token-types.ts';

interface CreateProjectTokenDialogProps {
  readonly project: string;
  readonly onClose: () => void;
}

interface TokenDialogProps extends CreateProjectTokenDialogProps {
  /** the names of the environments that the project uses */
  readonly environments: readonly string[];
}

function TokenDialog({ project, environments, onClose }: TokenDialogProps) {
  return (
    <CreateSecretDialog
      title="Create a token"
      submit="Create"
      operation={CreateProjectApiToken}
      values={{ tokenName: '', type: 'client', environment: environments[0] ?? '', expiresAt: '' }}
      request={({ tokenName, type, environment, expiresAt }) => ({
        params: { projectId: project },
        body: {
          tokenName: String(tokenName).trim(),
          type: type as 'client',
          environment: String(environment),
          projects: [project],
          expiresAt: instantAfterDays(expiresAt) ?? null,
        },
      })}
      secret={({ secret }) => ({
        title: 'The token is created',
        label: 'API token',
        value: secret,
        help: 'Copy it now: it is shown only this once.',
      })}
      onClose={onClose}
    >
      {(control) => (
        <>
          <BoundTextField
            control={control}
            name="tokenName"
            label="Name"
            hint="What uses it, such as checkout-service"
            required="Enter a name."
            validate={(value) => validationErrorOf(CreateProjectApiToken.body, 'tokenName', value)}
            autoFocus
          />
          <BoundSelect control={control} name="type" label="Type" options={tokenTypeOptions(['client', 'frontend'])} />
          <BoundSelect
            control={control}
            name="environment"
            label="Environment"
            options={environments.map((id) => ({ id, label: id }))}
          />
          <BoundSelect control={control} name="expiresAt" label="Works for" options={tokenLifetimes} />
        </>
      )}
    </CreateSecretDialog>
  );
}

/** Creates an API token of a project, and shows its secret once. */
export function CreateProjectTokenDialog(props: CreateProjectTokenDialogProps) {
  const environments = useQuery(operationQuery(ListEnvironmentsOfProject, { params: { projectId: props.project } }));
  return (
    <DialogQueryResult title="Create a token" query={environments} onClose={props.onClose}>
      {({ environments: all }) => (
        <TokenDialog {...props} environments={all.filter(({ visible }) => visible === true).map(({ name }) => name)} />
      )}
    </DialogQueryResult>
  );
}
