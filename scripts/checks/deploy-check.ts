import { serviceNames } from '@bunting/contracts';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { runCommand } from '../command.ts';

/** The programs that check the files, and how to install them. */
const tools = {
  helm: 'go install helm.sh/helm/v3/cmd/helm@latest',
  'kubernetes-validate': 'pip install kubernetes-validate',
  promtool: 'apt-get install prometheus',
  haproxy: 'apt-get install haproxy',
  openssl: 'apt-get install openssl',
} as const;
type Tool = keyof typeof tools;

const help = `Checks what is deployed: the chart, the alerts, the dashboard, the load balancer and the shell scripts. A tool that is missing is named, with
how to get it, and skipped; with --all a missing tool is a failure.

  npm run deploy:check [-- --all]

${Object.entries(tools)
  .map(([tool, source]) => `${tool.padEnd(20)} ${source}`)
  .join('\n')}`;

const repository = path.join(import.meta.dirname, '../..');
const chart = 'deploy/helm/bunting';
const edgeChart = 'deploy/helm/bunting-edge';
/** The Kubernetes version that the chart is rendered and validated for. */
const kubernetesVersion = '1.31.0';

function isMissing(tool: Tool): boolean {
  return (
    (spawnSync(tool, ['--help'], { stdio: 'ignore' }).error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
  );
}

interface Outcome {
  readonly failed: boolean;
  readonly output: string;
}

function run(command: string, args: readonly string[]): Outcome {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return { failed: status !== 0, output: status === 0 ? stdout : `${stdout}${stderr}` };
}

/** Whether an object is of a kind that the Prometheus operator defines: Kubernetes itself has no schema for it. */
function isOperatorKind(text: string): boolean {
  return /^apiVersion: monitoring\.coreos\.com\//m.test(text);
}

interface Policy {
  readonly kind?: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<
    Record<'ingress' | 'egress', readonly { readonly ports: readonly { readonly port: number }[] }[]>
  >;
}

/** Checks that in the rendered production example clients reach the gateway alone, and only it and integrations reach external servers. */
function checkPolicies(rendered: string): Outcome {
  const policies = parseAllDocuments(rendered)
    .map((document) => document.toJS() as Policy | null)
    .filter((object) => object?.kind === 'NetworkPolicy') as Policy[];
  // 4242: the API; 443, 465: identity providers, destinations and mail servers
  const withPort = (ports: readonly number[], direction: 'ingress' | 'egress') =>
    policies
      .filter(({ spec }) => spec[direction].some((rule) => rule.ports.some(({ port }) => ports.includes(port))))
      .map(({ metadata }) => metadata.name)
      .join(', ');
  const reachable = withPort([4242], 'ingress');
  const reaching = withPort([443, 465], 'egress');
  return {
    failed:
      policies.length < serviceNames.length ||
      reachable !== 'bunting-gateway' ||
      reaching !== 'bunting-gateway, bunting-integrations',
    output: `${policies.length} policies; reachable by clients: ${reachable}; reaching external servers: ${reaching}`,
  };
}

/** Checks that the images of one service can be upgraded without those of the others (docs/upgrading.md). */
function checkUpgrade({ failed, output }: Outcome): Outcome {
  const images = [...output.matchAll(/image: (\S+)/g)].map(([, image = '']) => image);
  const upgradedImages = images.filter((image) => image.endsWith(':9.9.9'));
  // Of each service the migrations and the service itself.
  const isExpected =
    images.length === 2 * serviceNames.length &&
    upgradedImages.length === 2 &&
    upgradedImages.every((image) => image.includes('/audit:'));
  return { failed: failed || !isExpected, output: images.join('\n') };
}

interface Rendered {
  readonly kind?: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, unknown>> };
  readonly spec?: { readonly template?: unknown };
}
function objectsIn(rendered: string): readonly Rendered[] {
  return parseAllDocuments(rendered).flatMap((document) => (document.toJS() as Rendered | null) ?? []);
}

/** Checks that no pod restarts because the chart has a new version, while its image has not. */
function checkNewChart(before: Outcome, after: Outcome): Outcome {
  const [old, changed] = [before, after].map(({ output }) =>
    objectsIn(output)
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => JSON.stringify(spec?.template)),
  );
  const failed =
    before.failed || after.failed || old?.length !== serviceNames.length || old.join('\n') !== changed?.join('\n');
  return { failed, output: `${before.output}\n${after.output}` };
}

/** Values that YAML would take for something else, or Helm writes otherwise, by what the chart has to make of them. */
const awkwardNumbers = { LIMIT: 10_485_760, CLIENT_ID: 123_456_789_012_345, RATE: 0.1, ENABLED: false } as const;

/** Checks that settings keep their text, and that all labels are text, in a release whose name YAML takes for a truth value. */
function checkTexts({ failed, output }: Outcome): Outcome {
  const texts = Object.entries(awkwardNumbers).map(([name, value]) => `- name: ${name}\n value: "${value}"`);
  const rendered = output.replace(/\n +/g, '\n ');
  const lost = failed ? [] : texts.filter((text) => !rendered.includes(text));
  const labels = failed ? [] : objectsIn(output).flatMap(({ metadata }) => Object.values(metadata.labels ?? {}));
  return {
    failed: failed || lost.length > 0 || labels.length === 0 || labels.some((label) => typeof label !== 'string'),
    output: failed ? output : `settings without their text: ${lost.join(', ')}; labels: ${labels.join(', ')}`,
  };
}

/** Checks that names fit, and differ, for a release with the longest name that Helm takes. */
function checkNames({ failed, output }: Outcome): Outcome {
  const names = failed ? [] : objectsIn(output).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  const tooLong = names.filter((name) => name.replace(/^.*\//, '').length > 63);
  return {
    failed: failed || tooLong.length > 0 || new Set(names).size < names.length,
    output: failed ? output : names.join('\n'),
  };
}

/** The queries of the dashboard as recording rules, which promtool parses. */
function rulesOfPanels() {
  const file = path.join(repository, 'deploy/dashboards/bunting.json');
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as {
    panels: { id: number; targets: { refId: string; expr: string }[] }[];
  };
  const rules = panels.flatMap(({ id, targets }) =>
    targets.map(({ refId, expr }) => ({
      record: `panel_${id}_${refId}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    })),
  );
  return { groups: [{ name: 'panels', rules }] };
}

type Check = (name: string, outcome: Outcome) => string;

function checkAlerts(check: Check, folder: string): void {
  check('promtool check rules', run('promtool', ['check', 'rules', 'deploy/alerts/bunting.rules.yaml']));
  check('promtool test rules', run('promtool', ['test', 'rules', 'deploy/alerts/bunting.test.yaml']));
  const panels = path.join(folder, 'panels.yaml');
  writeFileSync(panels, stringify(rulesOfPanels()));
  check('promtool check rules, with the queries of the dashboard', run('promtool', ['check', 'rules', panels]));
}

/** Checks the configuration of HAProxy with a temporary certificate, since that of an installation is a secret. */
function checkBalancer(check: Check, folder: string): void {
  const certificate = path.join(folder, 'balancer_certificate');
  const [cert, key] = [`${certificate}.crt`, `${certificate}.key`];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-out', cert];
  check('openssl req', run('openssl', [...request, '-keyout', key]));
  writeFileSync(certificate, `${readFileSync(cert, 'utf8')}${readFileSync(key, 'utf8')}`);
  const config = path.join(folder, 'haproxy.cfg');
  const text = readFileSync(path.join(repository, 'docker/haproxy.cfg'), 'utf8');
  writeFileSync(config, text.replace('/run/secrets/balancer_certificate', certificate));
  check('haproxy -c -f docker/haproxy.cfg', run('haproxy', ['-c', '-f', config]));
}

function checkChart(check: Check, folder: string, canValidate: boolean): void {
  check('helm lint --strict', run('helm', ['lint', '--strict', '--kube-version', kubernetesVersion, chart]));
  const upgrade = ['--kube-version', kubernetesVersion, '--set-string', 'image.tag=0.1.0,image.tags.audit=9.9.9'];
  check(
    'helm template with the new image of one service',
    checkUpgrade(run('helm', ['template', 'bunting', chart, ...upgrade])),
  );
  const newChart = path.join(folder, 'chart');
  cpSync(path.join(repository, chart), newChart, { recursive: true, dereference: true });
  const chartFile = path.join(newChart, 'Chart.yaml');
  writeFileSync(chartFile, readFileSync(chartFile, 'utf8').replace(/^(version|appVersion): .*$/gm, '$1: 9.9.9'));
  const [old, changed] = [chart, newChart].map((one) =>
    run('helm', ['template', 'bunting', one, '--kube-version', kubernetesVersion, '--set-string', 'image.tag=0.1.0']),
  ) as [Outcome, Outcome];
  check('helm template with a new version of the chart alone changes no pod', checkNewChart(old, changed));
  const longName = 'release-of-'.padEnd(53, 'x');
  check(
    'helm template with the longest name of a release',
    checkNames(run('helm', ['template', longName, chart, '--kube-version', kubernetesVersion])),
  );
  const awkwardValues = path.join(folder, 'awkward.yaml');
  writeFileSync(awkwardValues, stringify({ env: awkwardNumbers, podLabels: null, podAnnotations: null }));
  for (const one of [chart, edgeChart])
    check(
      `helm template of ${path.basename(one)} keeps numbers as they are written, and labels texts`,
      checkTexts(run('helm', ['template', 'true', one, '--kube-version', kubernetesVersion, '-f', awkwardValues])),
    );
  for (const values of readdirSync(path.join(repository, chart, 'ci'))) {
    const file = path.join(chart, 'ci', values);
    const rendered = check(
      `helm template -f ${values}`,
      run('helm', ['template', 'bunting', chart, '--kube-version', kubernetesVersion, '-f', file]),
    );
    if (values === 'production-values.yaml')
      check('network policies: clients reach the gateway alone', checkPolicies(rendered));
    if (canValidate) validateObjects(check, rendered, path.join(folder, values));
  }
  check(
    'helm lint --strict, of the edge',
    run('helm', ['lint', '--strict', '--kube-version', kubernetesVersion, edgeChart]),
  );
  for (const kind of ['Deployment', 'DaemonSet']) {
    const set = ['--kube-version', kubernetesVersion, '--set', `kind=${kind},env.STRICT=false`];
    const rendered = check(
      `helm template of the edge as ${kind}`,
      run('helm', ['template', 'edge', edgeChart, ...set]),
    );
    if (canValidate) validateObjects(check, rendered, path.join(folder, `edge-${kind}.yaml`));
  }
}

/** Checks rendered objects against the schemas of Kubernetes. */
function validateObjects(check: Check, rendered: string, file: string): void {
  const objects = parseAllDocuments(rendered)
    .map(String)
    .filter((text) => /^apiVersion:/m.test(text) && !isOperatorKind(text));
  writeFileSync(file, objects.map((text) => text.replace(/^(?!---)/, '---\n')).join('\n'));
  check(
    `kubernetes-validate --strict ${path.basename(file)} (${objects.length} objects)`,
    run('kubernetes-validate', ['--strict', '-k', kubernetesVersion.replace(/\.0$/, ''), file]),
  );
}

await runCommand({ help, options: { all: { type: 'boolean', default: false } } }, (options) => {
  const missingTools = new Set((Object.keys(tools) as Tool[]).filter(isMissing));
  for (const tool of missingTools)
    console.log(`${tool} is missing, its checks are skipped. Get it with: ${tools[tool]}`);
  let failures = options.all ? missingTools.size : 0;
  const check: Check = (name, { failed, output }) => {
    console.log(`${failed ? 'FAILED ' : 'passed '} ${name}`);
    if (failed) {
      failures++;
      console.log(output);
    }
    return output;
  };
  const has = (tool: Tool): boolean => !missingTools.has(tool);

  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-deploy-'));
  try {
    if (has('promtool')) checkAlerts(check, folder);
    if (has('helm')) checkChart(check, folder, has('kubernetes-validate'));
    if (has('haproxy') && has('openssl')) checkBalancer(check, folder);
    for (const script of ['docker/setup.sh', 'docker/replace.sh', 'docker/postgres/roles.sh'])
      check(`sh -n ${script}`, run('sh', ['-n', script]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (failures > 0) console.log(`${failures} checks failed.`);
  else console.log(missingTools.size === 0 ? 'The deployment files are right.' : 'What could be checked is right.');
  return failures === 0 ? 0 : 1;
});
