import { type ApiToken, CreateProjectApiToken, ListEnvironmentsOfProject } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMayCall } from '../../api/permissions.ts';
import { operationQuery, useEnvironments, useOperationMutation, useProjects } from '../../api/queries-and-mutations.ts';
import { ownUrl } from '../../base-path.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { Dialog, DialogQueryResult } from '../../components/dialogs/dialog.tsx';
import { ComboBox, Select } from '../../components/forms/selects.tsx';
import { ConnectionSignal } from './connection-signal.tsx';
import { sdkPrograms } from './sdk-programs.ts';
import { copyText } from '../../shell/copy-text.ts';
import styles from './connect-sdk.module.css';

/** Code with a button that copies it, where the browser can copy. */
function Code({ label, text }: { readonly label: string; readonly text: string }) {
  const [copied, setCopied] = useState<string>();
  return (
    <section className={styles['step']}>
      <h3>
        {label}
        {window.isSecureContext && (
          <Button
            size="small"
            icon={copied === text ? 'check' : 'copy'}
            aria-label={`Copy ${label}`}
            onPress={() => void copyText(text).then((isCopied) => isCopied && setCopied(text))}
          >
            {copied === text ? 'Copied' : 'Copy'}
          </Button>
        )}
      </h3>
      <pre className={styles['code']} aria-label={label}>
        {text}
      </pre>
    </section>
  );
}

interface ConnectSdkDialogProps {
  /** without it, the user chooses */
  readonly project?: string | undefined;
  /** the flag that the program asks for */
  readonly flag?: string | undefined;
  readonly onClose: () => void;
}

interface ConnectProps extends ConnectSdkDialogProps {
  readonly project: string;
  readonly onProject: ((project: string) => void) | undefined;
  readonly environments: readonly string[];
}

function Connect({ project, onProject, environments, flag = 'my-flag', onClose }: ConnectProps) {
  const [sdkId, setSdkId] = useState('node');
  const [chosen, setEnvironment] = useState<string>();
  // Only the state of the dialog has the secrets.
  const [tokens, setTokens] = useState<readonly ApiToken[]>([]);
  const types = useEnvironments().data?.environments ?? [];
  const projects = useProjects().data?.projects ?? [];
  const isOf = (type: string) => (name: string) => types.some((one) => one.name === name && one.type === type);
  const environment = chosen ?? environments.find(isOf('development')) ?? environments[0] ?? '';
  const sdk = sdkPrograms.find(({ id }) => id === sdkId) ?? sdkPrograms[0];
  const create = useOperationMutation(CreateProjectApiToken, 'notified', (token) => setTokens([...tokens, token]));
  const mayCreate = useMayCall()(CreateProjectApiToken, { project, environment });
  if (sdk === undefined) return null;
  const appName = `${project}-app`;
  const token = tokens.find(
    (one) => one.type === sdk.tokenType && one.environment === environment && one.projects?.[0] === project,
  );
  const secret = token?.secret ?? `<${sdk.tokenType === 'client' ? 'a client token' : 'a frontend token'}>`;
  const createToken = (): void =>
    create.mutate({
      params: { projectId: project },
      body: { tokenName: `${appName} (${sdk.label})`, type: sdk.tokenType, environment, projects: [project] },
    });
  return (
    <Dialog
      title="Connect an SDK"
      isWide
      isAlert={tokens.length > 0}
      onClose={onClose}
      footer={
        // Below what scrolls: it is seen beside the longest program.
        <>
          <ConnectionSignal
            key={`${project} ${environment}`}
            project={project}
            environment={environment}
            token={token}
          />
          <Button {...(token !== undefined && { variant: 'primary' as const })} onPress={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className={styles['choices']}>
        {onProject !== undefined && (
          <ComboBox
            label="Project"
            options={projects.map(({ id, name }) => ({ id, label: name }))}
            value={project}
            onChange={onProject}
          />
        )}
        <Select
          label="Language"
          options={sdkPrograms.map(({ id, label }) => ({ id, label }))}
          value={sdk.id}
          onChange={setSdkId}
        />
        <Select
          label="Environment"
          options={environments.map((id) => ({ id, label: id }))}
          value={environment}
          onChange={setEnvironment}
        />
      </div>
      {token === undefined ? (
        <Notice
          actions={
            mayCreate && (
              <Button variant="primary" isPending={create.isPending} onPress={createToken} autoFocus>
                Create a token
              </Button>
            )
          }
        >
          {mayCreate
            ? sdk.tokenType === 'client'
              ? 'A client token gets all flags with their strategies: keep it secret.'
              : 'A frontend token gets evaluated flags only, and may be public.'
            : `Ask an owner of the project for a token for ${environment}: you may not create one.`}
        </Notice>
      ) : (
        <Notice>The token is in the program below. It is shown only now: copy it before you close this.</Notice>
      )}
      {sdk.id !== 'curl' && <Code label="Install" text={sdk.install} />}
      <Code label={sdk.file} text={sdk.program({ origin: ownUrl, token: secret, appName, flag })} />
    </Dialog>
  );
}

/** Shows the program by which an application asks for a flag, with a token that is created on the spot, and waits for its first signal. */
export function ConnectSdkDialog({ project: given, ...props }: ConnectSdkDialogProps) {
  const [project, setProject] = useState(given ?? 'default');
  const query = useQuery(operationQuery(ListEnvironmentsOfProject, { params: { projectId: project } }));
  return (
    <DialogQueryResult title="Connect an SDK" query={query} onClose={props.onClose}>
      {({ environments }) => (
        <Connect
          {...props}
          project={project}
          onProject={given === undefined ? setProject : undefined}
          environments={environments.filter(({ visible }) => visible === true).map(({ name }) => name)}
        />
      )}
    </DialogQueryResult>
  );
}
