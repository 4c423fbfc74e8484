import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startOneProcess } from '../../apps/all-in-one/test/support/platform.ts';
import { runCommand } from '../command.ts';

const help = `Lets the real provider of Terraform create, read, change, import and destroy each of its resources in a Bunting of its own.

  TERRAFORM_PROVIDER=/path/to/terraform-provider-unleash npm run test:terraform

It needs terraform on the PATH and the binary of the provider unleash/unleash; without one of them it says so and runs nothing.`;

/** Of each resource that can be imported, the address and a function that returns the id of the import. */
const imports: readonly (readonly [address: string, idOf: (stateIdOf: (address: string) => string) => string])[] = [
  ['unleash_project.shop', () => 'shop'],
  ['unleash_environment.lab', () => 'lab'],
  ['unleash_project_environment.lab_of_shop', () => 'shop:lab'],
  ['unleash_context_field.tier', () => 'tier'],
  ['unleash_project_access.shop', () => 'shop'],
  ...['unleash_user.ada', 'unleash_group.team', 'unleash_role.keeper'].map(
    (address) => [address, (stateIdOf: (of: string) => string) => stateIdOf(address)] as const,
  ),
];

interface State {
  readonly values: {
    readonly root_module: { readonly resources: readonly { address: string; values: { id?: unknown } }[] };
  };
}

/** Runs Terraform in a folder. @throws Error with its output for another exit code than 0 */
const terraformIn =
  (cwd: string, env: NodeJS.ProcessEnv) =>
  (args: readonly string[]): string => {
    console.log(`terraform ${args.join(' ')}`);
    const { status, stdout, stderr } = spawnSync('terraform', args, { cwd, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`terraform ${args.join(' ')} ended with ${status}.\n${stdout}${stderr}`);
    return stdout;
  };

const journey = (terraform: ReturnType<typeof terraformIn>): void => {
  const options = ['-input=false', '-no-color'];
  const changed = ['-var', 'changed=true'];
  const apply = (...more: readonly string[]) => terraform(['apply', '-auto-approve', ...options, ...more]);
  // Exit code 0: what is read is what was written.
  const planNothing = (...more: readonly string[]) => terraform(['plan', '-detailed-exitcode', ...options, ...more]);
  apply();
  planNothing();
  apply(...changed);
  planNothing(...changed);
  const { values } = JSON.parse(terraform(['show', '-json'])) as State;
  const stateIdOf = (address: string): string =>
    String(values.root_module.resources.find((resource) => resource.address === address)?.values.id);
  for (const [address, idOf] of imports) {
    terraform(['state', 'rm', address]);
    terraform(['import', ...options, ...changed, address, idOf(stateIdOf)]);
  }
  // The provider does not read all that it writes: an import leaves such properties to the next apply.
  apply(...changed);
  planNothing(...changed);
  terraform(['destroy', '-auto-approve', ...options, ...changed]);
};

await runCommand({ help }, async () => {
  const { TERRAFORM_PROVIDER: provider, ...environment } = process.env;
  const missing = [
    ...(spawnSync('terraform', ['version'], { env: { ...environment, TF_CLI_CONFIG_FILE: os.devNull } }).status === 0
      ? []
      : ['terraform is not on the PATH']),
    ...(provider === undefined || provider === ''
      ? ['TERRAFORM_PROVIDER does not name the binary of the provider']
      : []),
  ];
  if (provider === undefined || missing.length > 0)
    return console.log(`Skipped: ${missing.join(', and ')}. npm run test:terraform -- --help says what is needed.`);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bunting-terraform-'));
  const settings = { GATEWAY_READABLE_SDK_TOKENS: 'true', GATEWAY_TOKEN_KEY: 'the key of the tokens of this one test' };
  const platform = await startOneProcess(settings);
  try {
    copyFileSync(path.join(import.meta.dirname, 'terraform', 'main.tf'), path.join(folder, 'main.tf'));
    const config = path.join(folder, 'terraform.rc');
    const override = JSON.stringify(path.dirname(path.resolve(provider)));
    writeFileSync(
      config,
      `provider_installation {\n  dev_overrides { "unleash/unleash" = ${override} }\n  direct {}\n}\n`,
    );
    journey(
      terraformIn(folder, {
        ...environment,
        TF_CLI_CONFIG_FILE: config,
        TF_IN_AUTOMATION: '1',
        CHECKPOINT_DISABLE: '1',
        UNLEASH_URL: platform.url,
        AUTH_TOKEN: platform.token,
      }),
    );
    console.log('Every resource was created, read, changed, imported and destroyed.');
  } finally {
    await platform.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
