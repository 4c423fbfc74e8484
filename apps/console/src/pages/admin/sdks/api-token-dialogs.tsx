import { type ApiToken, CreateApiToken, type ReplyOf, UpdateApiToken } from '@bunting/contracts';
import { useState } from 'react';
import { useEnvironments, useProjects } from '../../../api/queries-and-mutations.ts';
import { ownUrl } from '../../../base-path.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { validationErrorOf } from '../../../components/forms/request-body-schema.ts';
import { Select } from '../../../components/forms/selects.tsx';
import { BoundSelect, BoundTextField } from '../../../components/forms/bound-fields.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { CreateSecretDialog, type CreateSecretValues } from '../../../components/dialogs/create-secret-dialog.tsx';
import { instantAfterDays, tokenLifetimes } from '../../../components/forms/form-values.ts';
import { tokenTypeOptions } from '../../../text/api-token-types.ts';
import { isolated } from '../../../text/isolated.ts';

type Type = ApiToken['type'];

function HowToUse({ type }: { readonly type: Type }) {
  const [help, path] = {
    client: ['In an SDK for servers, this is the address:', '/api'],
    frontend: ['In an SDK for browsers and apps, this is the address:', '/api/frontend'],
    admin: ['Send it as the header Authorization to:', '/api/admin'],
  }[type] as [string, string];
  return (
    <>
      <p>{help}</p>
      <CopyableSecret label={help} value={`${ownUrl}${path}`} />
    </>
  );
}

interface CreateApiTokenDialogProps {
  /** the types that the user may create, at least one */
  readonly types: readonly Type[];
  readonly onClose: () => void;
}

/** Creates an API token, and shows its secret once, with the URL that an SDK needs. */
export function CreateApiTokenDialog({ types, onClose }: CreateApiTokenDialogProps) {
  const projects = useProjects().data?.projects ?? [];
  const environments = useEnvironments().data?.environments ?? [];
  const [chosenProjects, setChosenProjects] = useState<readonly string[]>([]);
  const [type, setType] = useState<Type>(types[0] ?? 'client');
  const [environment, setEnvironment] = useState<string | undefined>();
  const defaultEnvironment = environments.find((candidate) => candidate.type === 'development') ?? environments[0];
  const isScoped = type !== 'admin';
  const request = ({ tokenName, days }: CreateSecretValues) => ({
    body: {
      tokenName: String(tokenName).trim(),
      type,
      expiresAt: instantAfterDays(days) ?? null,
      ...(isScoped && {
        environment: environment ?? defaultEnvironment?.name ?? 'development',
        projects: chosenProjects.length === 0 ? ['*'] : [...chosenProjects],
      }),
    },
  });
  return (
    <CreateSecretDialog
      title="Create an API token"
      submit="Create"
      operation={CreateApiToken}
      values={{ tokenName: '', days: '' }}
      request={request}
      secret={(token: ReplyOf<typeof CreateApiToken>) => ({
        title: `The token “${isolated(token.tokenName)}” is created`,
        label: 'Token',
        value: token.secret,
        help: 'Copy it now: it is shown only this once.',
        footnote: <HowToUse type={token.type} />,
      })}
      onClose={onClose}
    >
      {(control) => (
        <>
          <BoundTextField
            control={control}
            name="tokenName"
            label="Name"
            hint="So that everyone knows later what stops working without it"
            required="So that everyone knows later what stops working without it"
            validate={(value) => validationErrorOf(CreateApiToken.body, 'tokenName', value)}
            autoFocus
          />
          <Select label="Type" options={tokenTypeOptions(types)} value={type} onChange={(id) => setType(id as Type)} />
          {isScoped && (
            <>
              <Select
                label="Environment"
                options={environments.map(({ name }) => ({ id: name, label: name }))}
                value={environment ?? defaultEnvironment?.name ?? null}
                onChange={setEnvironment}
              />
              <MultiComboBox
                label="Add a project"
                options={projects.map(({ id, name }) => ({ id, label: name, description: id }))}
                value={chosenProjects}
                onChange={setChosenProjects}
                emptyText="All projects"
              />
            </>
          )}
          <BoundSelect control={control} name="days" label="Works for" options={tokenLifetimes} />
        </>
      )}
    </CreateSecretDialog>
  );
}

/** Sets when a token expires. */
export function ExtendApiTokenDialog({ token, onClose }: { readonly token: ApiToken; readonly onClose: () => void }) {
  const [days, setDays] = useState('90');
  const options = tokenLifetimes.filter(({ id }) => id !== '');
  return (
    <ConfirmOperationDialog
      title={`When the token “${isolated(token.tokenName)}” expires`}
      confirm="Save"
      operation={UpdateApiToken}
      request={{ params: { token: token.secret }, body: { expiresAt: instantAfterDays(days) ?? '' } }}
      notification={`${isolated(token.tokenName)} has a new end.`}
      onClose={onClose}
    >
      <Select label="Works from now for" options={options} value={days} onChange={setDays} />
    </ConfirmOperationDialog>
  );
}
