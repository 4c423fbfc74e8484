import { CreateProjectApiToken, ListEnvironmentsOfProject } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { validationErrorOf } from '../../../components/forms/request-body-schema.ts';
import { BoundSelect, BoundTextField } from '../../../components/forms/bound-fields.tsx';
import { DialogQueryResult } from '../../../components/dialogs/dialog-query-result.tsx';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';
import { optionsOfPairs, instantAfterDays } from '../../../components/forms/form-values.ts';
import { projectsMessages as text } from '../../../messages/projects.ts';
import { sharedMessages } from '../../../messages/shared.ts';

const tokenTypeOptions = Object.entries(text.tokenTypes).map(([id, [label, description]]) => ({
  id,
  label,
  description,
}));

interface CreateProjectTokenDialogProps {
  readonly project: string;
  readonly onClose: () => void;
}

interface TokenDialogProps extends CreateProjectTokenDialogProps {
  /** the names of the environments that the project uses */
  readonly environments: readonly string[];
}

const TokenDialog = ({ project, environments, onClose }: TokenDialogProps) => (
  <CreateSecretDialog
    title={text.createToken}
    submit={sharedMessages.common.create}
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
      title: text.tokenCreated,
      label: text.tokenSecret,
      value: secret,
      help: text.tokenOnce,
    })}
    onClose={onClose}
  >
    {(control) => (
      <>
        <BoundTextField
          control={control}
          name="tokenName"
          label={text.tokenName}
          hint={text.tokenNameHint}
          required={text.tokenNameMissing}
          validate={(value) => validationErrorOf(CreateProjectApiToken.body, 'tokenName', value)}
          autoFocus
        />
        <BoundSelect control={control} name="type" label={text.tokenType} options={tokenTypeOptions} />
        <BoundSelect
          control={control}
          name="environment"
          label={text.environment}
          options={environments.map((id) => ({ id, label: id }))}
        />
        <BoundSelect
          control={control}
          name="expiresAt"
          label={text.tokenExpires}
          options={optionsOfPairs(text.tokenDays)}
        />
      </>
    )}
  </CreateSecretDialog>
);

/** Creates an API token of a project, and shows its secret once. */
export const CreateProjectTokenDialog = (props: CreateProjectTokenDialogProps) => {
  const environments = useQuery(operationQuery(ListEnvironmentsOfProject, { params: { projectId: props.project } }));
  return (
    <DialogQueryResult title={text.createToken} query={environments} onClose={props.onClose}>
      {({ environments: all }) => (
        <TokenDialog {...props} environments={all.filter(({ visible }) => visible === true).map(({ name }) => name)} />
      )}
    </DialogQueryResult>
  );
};
