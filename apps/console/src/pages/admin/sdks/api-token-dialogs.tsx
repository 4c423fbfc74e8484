import { type ApiToken, CreateApiToken, type ReplyOf, UpdateApiToken } from '@bunting/contracts';
import { useState } from 'react';
import { useEnvironments, useProjects } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { validationErrorOf } from '../../../components/forms/request-body-schema.ts';
import { Select } from '../../../components/forms/fields.tsx';
import { BoundSelect, BoundTextField } from '../../../components/forms/bound-fields.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { apiTokensMessages as text } from '../../../messages/administration/api-tokens.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { CreateSecretDialog, type CreateSecretValues } from '../../../components/dialogs/create-secret-dialog.tsx';
import { optionsOfPairs, instantAfterDays } from '../../../components/forms/form-values.ts';

type Type = ApiToken['type'];
const types: readonly Type[] = ['client', 'frontend', 'admin'];

const HowToUse = ({ type }: { readonly type: Type }) => {
  const [help, path] = {
    client: [text.useServer, '/api'],
    frontend: [text.useFrontend, '/api/frontend'],
    admin: [text.useAdmin, '/api/admin'],
  }[type] as [string, string];
  return (
    <>
      <p>{help}</p>
      <CopyableSecret label={help} value={`${location.origin}${path}`} />
    </>
  );
};

/** Creates an API token, and shows its secret once, with the URL that an SDK needs. */
export const CreateApiTokenDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const projects = useProjects().data?.projects ?? [];
  const environments = useEnvironments().data?.environments ?? [];
  const [chosenProjects, setChosenProjects] = useState<readonly string[]>([]);
  const [type, setType] = useState<Type>('client');
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
      title={text.create}
      submit={sharedMessages.common.create}
      operation={CreateApiToken}
      values={{ tokenName: '', days: '' }}
      request={request}
      secret={(token: ReplyOf<typeof CreateApiToken>) => ({
        title: text.made(token.tokenName),
        label: text.token,
        value: token.secret,
        help: text.once,
        footnote: <HowToUse type={token.type} />,
      })}
      onClose={onClose}
    >
      {(control) => (
        <>
          <BoundTextField
            control={control}
            name="tokenName"
            label={text.name}
            hint={text.nameHint}
            required={text.nameHint}
            validate={(value) => validationErrorOf(CreateApiToken.body, 'tokenName', value)}
            autoFocus
          />
          <Select
            label={text.type}
            options={types.map((id) => ({ id, label: text.types[id][0], description: text.types[id][1] }))}
            value={type}
            onChange={(id) => setType(id as Type)}
          />
          {isScoped && (
            <>
              <Select
                label={text.environment}
                options={environments.map(({ name }) => ({ id: name, label: name }))}
                value={environment ?? defaultEnvironment?.name ?? null}
                onChange={setEnvironment}
              />
              <MultiComboBox
                label={text.addProject}
                options={projects.map(({ id, name }) => ({ id, label: name, description: id }))}
                value={chosenProjects}
                onChange={setChosenProjects}
                emptyText={text.allProjects}
              />
            </>
          )}
          <BoundSelect control={control} name="days" label={text.lasts} options={optionsOfPairs(text.days)} />
        </>
      )}
    </CreateSecretDialog>
  );
};

/** Sets when a token expires. */
export const ExtendApiTokenDialog = ({
  token,
  onClose,
}: {
  readonly token: ApiToken;
  readonly onClose: () => void;
}) => {
  const [days, setDays] = useState('90');
  const options = optionsOfPairs(text.days).filter(({ id }) => id !== '');
  return (
    <ConfirmOperationDialog
      title={text.extendTitle(token.tokenName)}
      confirm={sharedMessages.common.save}
      operation={UpdateApiToken}
      request={{ params: { token: token.secret }, body: { expiresAt: instantAfterDays(days) ?? '' } }}
      notification={text.extended(token.tokenName)}
      onClose={onClose}
    >
      <Select label={text.extendFor} options={options} value={days} onChange={setDays} />
    </ConfirmOperationDialog>
  );
};
